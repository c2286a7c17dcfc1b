import { defaultClientConditions, defineConfig, type Plugin, type Rollup } from 'vite'
import { guidesPlugin } from './building/guides.ts'

/** The modules that the page of a skill needs beyond those of the first page. */
const skillModules = ['pages/skill/skill-page.tsx', 'ui/markdown.tsx']

/** Links the files of the skill's page, so that browsers load them early; on other pages the node removes the links. */
const linkSkillFiles: Plugin = {
  name: 'link-skill-files',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((file): file is Rollup.OutputChunk => file.type === 'chunk')
      const found = new Set<string>()
      function add(chunk: Rollup.OutputChunk): void {
        for (const file of [chunk.fileName, ...(chunk.viteMetadata?.importedCss ?? [])]) found.add(file)
        for (const name of chunk.imports) if (!found.has(name)) add(chunks.find(({ fileName }) => fileName === name)!)
      }
      for (const name of skillModules) add(chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(name))!)
      return [...found]
        .filter((file) => !html.includes(file))
        .map((file) => ({
          tag: 'link',
          attrs: {
            rel: file.endsWith('.css') ? 'stylesheet' : 'modulepreload',
            crossorigin: true,
            href: `/${file}`,
            'data-page': 'skill',
          },
          injectTo: 'head' as const,
        }))
    },
  },
}

export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions: ['source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [linkSkillFiles, guidesPlugin()],
  build: {
    // Every file is requested by its URL: the content security policy of the pages allows no `data:` scripts or styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
    rolldownOptions: {
      // Each further file costs a slow connection a round trip.
      output: { codeSplitting: { groups: [{ name: 'app', tags: ['$initial'] }] } },
      // No warnings about slow plugins: the machine may be slow.
      checks: { pluginTimings: false },
    },
  },
  worker: { format: 'es' },
  // Scripts and styles load each other by relative addresses, because a proxy may publish the node below a path.
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === 'html' ? undefined : { relative: true }) },
  logLevel: 'warn',
})
