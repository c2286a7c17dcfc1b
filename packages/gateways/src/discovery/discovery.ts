import type { ListParts } from '../encoded-lists.ts'
import type { GatewayHost, GatewayRoute } from '../gateway.ts'
import { createRecentLists, type RecentLists } from '../scopes/recent-lists.ts'
import { listScopePaths, type ScopePath } from '../scopes/scope-paths.ts'
import { answerFile, answerList, toScopeRoute } from '../scopes/scope-routes.ts'
import { toPageRead } from '../scopes/through-upstreams.ts'
import { findArtifact, parseArtifactFile } from '../scopes/find-artifact.ts'
import { readDiscoveryIndex } from './artifact-index.ts'
import { findIndexedFile, readFileIndex } from './file-index.ts'
import { answerSkillSearch } from './find-skills.ts'

/** The folders where installers look for an index: of version 0.2.0 (`folder`), and of version 0.1 (`fileFolder`). */
const folder = '/.well-known/agent-skills'
const fileFolder = '/.well-known/skills'

/**
 * The routes for installers of agent skills: skill indexes of two versions at every scope, the files that the indexes
 * list, and the search of `skills find`.
 */
export function discovery(host: GatewayHost): GatewayRoute[] {
  const lists = createRecentLists(host)
  return [
    ...listScopePaths(host.discoveryPack).flatMap((path) => [
      ...toArtifactRoutes(host, path, lists),
      ...toFileRoutes(host, path, lists),
    ]),
    {
      pattern: '/api/search',
      endpoint: 'findSkills',
      methods: ['GET', 'HEAD'],
      admission: 'api',
      answer: (call) => answerSkillSearch(host, call),
    },
  ]
}

/** Version 0.2.0: an index of artifacts, each a SKILL.md or a zip. */
function toArtifactRoutes(host: GatewayHost, path: ScopePath, lists: RecentLists): GatewayRoute[] {
  const { context } = host
  return [
    toScopeRoute(host, {
      path,
      admission: 'files',
      below: `${folder}/index.json`,
      answer(call, params) {
        const scope = path.read(params)
        const list = {
          kind: ['index 0.2.0'] as const,
          make: async () => toIndexParts(await readDiscoveryIndex(context, scope, call.caller)),
        }
        return answerList(host, call, { scope, read: toPageRead(scope), lists }, list)
      },
    }),
    toScopeRoute(host, {
      path,
      admission: 'files',
      below: `${folder}${path.artifact}`,
      answer(call, params) {
        const { holder: owner, file = '' } = params
        const scope = path.read(params)
        const find = () => findArtifact(context, { scope, owner, file }, call.caller)
        return answerFile(host, call, { scope, read: toPageRead(scope, parseArtifactFile(file)), lists }, find)
      },
    }),
  ]
}

function toIndexParts(index: { readonly skills: readonly unknown[] }): ListParts {
  return { value: index, hasSeveralSkills: index.skills.length > 1 }
}

/** Version 0.1: an index of skills with the paths of their files. Each file has its own URL. */
function toFileRoutes(host: GatewayHost, path: ScopePath, lists: RecentLists): GatewayRoute[] {
  const { context } = host
  return [
    toScopeRoute(host, {
      path,
      admission: 'files',
      below: `${fileFolder}/index.json`,
      answer(call, params) {
        const scope = path.read(params)
        const list = {
          kind: ['index 0.1'] as const,
          make: async () => toIndexParts(await readFileIndex(context, scope, call.caller)),
        }
        return answerList(host, call, { scope, read: toPageRead(scope), lists }, list)
      },
    }),
    toScopeRoute(host, {
      path,
      admission: 'files',
      // Some clients encode the slashes of the path.
      below: `${fileFolder}/:member/**:rest`,
      answer(call, { member: name = '', rest = '', ...params }) {
        const scope = path.read(params)
        const find = () => findIndexedFile(context, { scope, name, path: rest }, call.caller)
        const named = scope.of === 'owner' ? { name } : undefined
        return answerFile(host, call, { scope, read: toPageRead(scope, named), lists }, find)
      },
    }),
  ]
}
