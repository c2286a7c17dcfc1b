import { RegistryError } from '@skillstead/protocol'
import type { Run } from '../run.ts'
import type { SnapshotSource } from '../types.ts'
import { DiscoverySource } from './discovery-source.ts'
import { createFolderSource } from './folder-source.ts'
import { createGitSource } from './git-source.ts'
import { chooseOwner } from './owner-name.ts'
import type { ListedSkill } from './registry-page.ts'
import { createRegistrySource } from './registry-source.ts'
import { wantsName } from './wanted-releases.ts'

/**
 * Opens the source of an upstream without a log. `only`: the full names of the skills to read. Default: all. Throws
 * `invalid_request` for an invalid location.
 */
export function openSource(run: Run, only?: ReadonlySet<string>): SnapshotSource {
  const { upstream, http, parts } = run
  const { location, kind } = upstream
  const now = () => parts.context.clock.now()
  const wants = ({ owner, name }: { owner: string; name: string }) =>
    (only?.has(`${owner}/${name}`) ?? true) && wantsName(run, owner, name)
  const owner = chooseOwner(upstream)
  const apiKey = parts.readCredential(upstream)
  switch (kind) {
    case 'registry':
      return createRegistrySource({
        location,
        http,
        apiKey,
        now,
        wants: (listed) => wants(listed) && wantsListed(run, listed),
      })
    case 'discovery':
      return new DiscoverySource({ location, http, apiKey, owner, wants })
    case 'git':
      return createGitSource({ location, owner, wants, now, signal: run.signal })
    case 'folder':
      return createFolderSource({ location, owner, wants })
    default:
      throw new RegistryError('not_implemented', `An upstream of kind ${kind} cannot be synced this way.`)
  }
}

/** Whether a skill passes the filters `verified` and `minSecurityScore`, by the values in a registry's list. */
export function wantsListed({ upstream }: Run, { verified, securityScore }: ListedSkill): boolean {
  const { filters } = upstream.settings
  return (!filters.verified || verified) && (securityScore ?? 100) >= (filters.minSecurityScore ?? 0)
}
