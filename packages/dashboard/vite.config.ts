import { defaultClientConditions, defineConfig } from 'vite'
import { guidesPlugin } from './building/guides.ts'

export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions: ['source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [guidesPlugin()],
  build: {
    // Every file is requested by its URL: the content security policy of the pages allows no `data:` scripts or styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
    // A slow machine is no fault of a plugin.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  worker: { format: 'es' },
  // Scripts and styles load each other by relative addresses, because a proxy may publish the node below a path.
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  logLevel: 'warn',
})
