import { type endpoints, type Input, isRegistryError, type Output, type RegistryApi } from '@skillstead/protocol'
import { toTool } from '@skillstead/skill-format/loading'
import { importFolder, type ImportOptions } from './embedding/import-folder.ts'
import type { ImportSummary } from './embedding/run-import.ts'
import { readSkillEvents, type SkillEvent, type SkillEventOptions } from './embedding/skill-events.ts'
import { type Caller, guest, systemCaller } from './kernel/caller.ts'
import { localApi } from './local-api.ts'
import { openRegistry, partsOf, type Registry, requireOpen } from './registry.ts'
import type { RegistryOptions } from './operator/registry-options.ts'

/** The options of {@link openSkills}: those of `openRegistry`, but `profile` sets how much the process does. */
export interface SkillsOptions extends Omit<RegistryOptions, 'works' | 'memorySkillsMax' | 'threadSkillsMin'> {
  /**
   * `resident`, for a long-lived process, searches in memory and runs background work. `short`, for a process that ends
   * soon, searches in the database and runs no background work. Default: `resident`.
   */
  readonly profile?: 'resident' | 'short'
  /**
   * The name of the user who publishes and reads. A missing user is created without the rights of an administrator; in
   * the mode `read`, a missing user is `not_found`. Default: a guest, who only reads public skills.
   */
  readonly as?: string
}

type CallOf<Name extends keyof typeof endpoints, Given extends string> = Omit<
  Input<(typeof endpoints)[Name]>,
  Given
> & {
  /** Rejects the call with the reason of this signal. */
  readonly signal?: AbortSignal | undefined
}

/** The skills of an open registry, as one user. */
export interface Skills {
  /** Publishes all skills of a folder or zip as skills of the user. Importing the same skills again changes nothing. */
  importFolder(path: string, options?: ImportOptions): Promise<ImportSummary>
  /** Finds skills, best first; the options are the filters and the context of `searchByNeed`. */
  search(text: string, options?: CallOf<'searchByNeed', 'q'>): Promise<Output<(typeof endpoints)['searchByNeed']>>
  /** Loads as much of a skill as `level` and `maxTokens` ask for. Throws `not_found` and `taken_down`. */
  load(name: string, options?: CallOf<'loadSkill', 'name'>): Promise<Output<(typeof endpoints)['loadSkill']>>
  /** Converts a loaded skill to a tool definition: `openai`, `anthropic`, `langchain` or `generic`. */
  readonly toTool: typeof toTool
  /**
   * The changes of all skills that the user may see, private ones included, from the time of this call or from a
   * position, whichever process made them. Call this before the first read of the skills, so that no change in between
   * is missed. The iteration ends when the registry closes, and throws the reason of an aborted signal. While it waits,
   * the process stays alive.
   */
  changes(options?: SkillEventOptions): AsyncGenerator<SkillEvent, void, undefined>
  /** All functions of the registry, as the user. */
  readonly api: RegistryApi
  /** The open registry, for calls as other users with `localApi`. */
  readonly registry: Registry
  /** Closes the registry. Later calls reject with `closed`. */
  close(): Promise<void>
  /** As {@link Skills.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a registry for an agent runtime: importing, searching and loading skills, and following their changes. Throws
 * the errors of `openRegistry`.
 *
 * @example
 * await using skills = await openSkills({ path: 'skills.db', as: 'runtime' })
 * await skills.importFolder('./skills')
 * const { skills: found } = await skills.search('clean csv', { limit: 5 })
 * const skill = await skills.load(found[0].fullName, { maxTokens: 2000 })
 * const tool = skills.toTool(skill, 'openai')
 */
export async function openSkills(options: SkillsOptions): Promise<Skills> {
  const { as, profile = 'resident', ...rest } = options
  const short = { works: false, memorySkillsMax: 0 }
  const registry = await openRegistry({ ...rest, ...(profile === 'short' && short) })
  try {
    return createSkills(registry, as === undefined ? guest : await findUser(registry, as, rest.mode))
  } catch (error) {
    await registry.close()
    throw error
  }
}

function createSkills(registry: Registry, caller: Caller): Skills {
  const context = partsOf(registry)
  const api = localApi(registry, caller)
  return {
    async importFolder(path, given) {
      requireOpen(context)
      try {
        return await importFolder(context, path, caller, given)
      } catch (error) {
        requireOpen(context, error)
        throw error
      }
    },
    async search(q, { signal, ...filters } = {}) {
      return api.searchByNeed({ ...filters, q }, { signal })
    },
    async load(name, { signal, ...wanted } = {}) {
      return api.loadSkill({ ...wanted, name }, { signal })
    },
    toTool,
    changes(given) {
      requireOpen(context)
      return readSkillEvents(context, caller, given)
    },
    api,
    registry,
    close: registry.close,
    [Symbol.asyncDispose]: registry.close,
  }
}

/** Returns the user with a name. Creates a missing user, but throws `not_found` in the mode `read`. */
async function findUser(registry: Registry, username: string, mode: SkillsOptions['mode']): Promise<Caller> {
  try {
    return await registry.getCaller(username)
  } catch (error) {
    if (mode === 'read' || !isRegistryError(error, 'not_found')) throw error
  }
  // The role is not `admin`, because an administrator would also load skills that are hidden from other users.
  const creation = localApi(registry, systemCaller).createUser({ username, role: 'user' })
  // If another process created the user meanwhile, the name is taken and the user exists.
  return creation.then(
    () => registry.getCaller(username),
    (error: unknown) => registry.getCaller(username).catch(() => Promise.reject(error)),
  )
}
