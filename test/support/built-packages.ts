import { registerHooks } from 'node:module'

/**
 * Imports a package that uses the word `source` among the conditions of its exports as this workspace does, but for
 * TypeScript that Node takes from no dependency: it is loaded as it was built.
 */
export function importBuilt<T>(load: () => Promise<T>): Promise<T> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith('eventsource')
        ? next(specifier, { ...context, conditions: context.conditions.filter((name) => name !== 'source') })
        : next(specifier, context),
  })
  return load().finally(() => hooks.deregister())
}
