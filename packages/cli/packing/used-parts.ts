import type { Plugin } from 'rolldown'

/** Modules that export only the used parts of packages which cannot be tree-shaken. */
const usedParts: Readonly<Record<string, string>> = {
  'rate-limiter-flexible': `export { default as RateLimiterMemory } from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
    export { default as RateLimiterRes } from 'rate-limiter-flexible/lib/RateLimiterRes.js'`,
  undici: `import api from 'undici/lib/api/index.js'
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
    export { default as Pool } from 'undici/lib/dispatcher/pool.js'
    export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js'
    export { default as buildConnector } from 'undici/lib/core/connect.js'
    // Undici's own index does the same.
    Object.assign(Dispatcher.prototype, api)`,
}

/** Optional packages: pg and, for XML, the CycloneDX library load them only if they are installed. */
export const optionalPackages: readonly string[] = ['pg-native', 'xmlbuilder2']

/** Bundles the used parts of packages instead of the whole packages. */
export function takeUsedParts(): Plugin {
  const prefix = '\0used-parts:'
  /** For each package, a module that imports it: its used parts are resolved as if imported by that module. */
  const importers = new Map<string, string>()
  return {
    name: 'take-used-parts',
    resolveId(specifier, importer, options) {
      const from = importers.get(importer ?? '')
      if (from !== undefined) return this.resolve(specifier, from, options)
      if (importer === undefined || !Object.hasOwn(usedParts, specifier)) return null
      const id = prefix + specifier
      importers.set(id, importer)
      return { id }
    },
    load: (id) => (id.startsWith(prefix) ? usedParts[id.slice(prefix.length)] : null),
  }
}
