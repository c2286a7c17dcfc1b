import { isSkillName, isUsername, isVersion } from '@skillstead/protocol'

/** The resource that a path below the registry's base path names. */
export type PackagePath =
  | { readonly of: 'package'; readonly fullName: string }
  | { readonly of: 'tags'; readonly fullName: string }
  | { readonly of: 'manifest'; readonly fullName: string; readonly version: string }
  | { readonly of: 'tarball'; readonly fullName: string; readonly version: string }

/**
 * Parses a decoded path, such as `@alice/pdf`, `@alice/pdf/1.0.0`, `@alice/pdf/-/pdf-1.0.0.tgz`, or
 * `-/package/@alice/pdf/dist-tags`. Clients may encode the slash of the name. Returns undefined for other paths.
 */
export function parsePackagePath(path: string): PackagePath | undefined {
  const [, tags, owner = '', name = '', rest] = /^(-\/package\/)?@([^/]+)\/([^/]+)(?:\/(.*))?$/s.exec(path) ?? []
  if (!isUsername(owner) || !isSkillName(name)) return undefined
  const fullName = `${owner}/${name}`
  if (tags !== undefined) return rest === 'dist-tags' ? { of: 'tags', fullName } : undefined
  if (rest === undefined || rest === '') return { of: 'package', fullName }
  if (rest === 'latest' || isVersion(rest)) return { of: 'manifest', fullName, version: rest }
  const version = rest.startsWith(`-/${name}-`) && rest.endsWith('.tgz') ? rest.slice(name.length + 3, -4) : ''
  return isVersion(version) ? { of: 'tarball', fullName, version } : undefined
}
