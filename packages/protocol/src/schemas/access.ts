import * as v from 'valibot'
import { Change } from './change.ts'
import { Id, Version } from './fields.ts'
import { Security } from './security.ts'

/** The kinds of resources that a version can use. */
export const accessKinds = ['tools', 'commands', 'hosts', 'environment', 'packages', 'files'] as const
/** A kind of resource that a version can use. */
export type AccessKind = (typeof accessKinds)[number]

const Names = v.array(v.string())

/**
 * The tools, programs, hosts and other resources that a version uses according to its text: sorted lists without
 * duplicates. The lists are information only: nothing enforces them.
 */
export const Access = v.object({
  /**
   * Tools of the agent: `Read`, `Bash(git:*)`, `mcp__github__search`; and the servers of the skill's `mcp.json` with
   * what each starts or contacts: `mcp__tickets (stdio ./bin/server)`.
   */
  tools: Names,
  /** Names of programs that are run: `git`. */
  commands: Names,
  /** Hosts that programs and instructions contact: `api.github.com`; `localhost` for the machine itself. */
  hosts: Names,
  /** Environment variables that are read or set; `*` for all of them. */
  environment: Names,
  /** Packages that are installed or run, with their registry: `npm:prettier`, `pypi:requests`, `brew:jq`. */
  packages: Names,
  /** Paths outside the skill's own folder: `~/.ssh`, `/etc/hosts`, `CLAUDE.md`. */
  files: Names,
  /** Sentences about parts of the version that could not be read or listed; empty if the lists are complete. */
  cut: Names,
})
export type Access = v.InferOutput<typeof Access>

/** The resources that a version uses and the previous version does not. */
export const Widens = v.object({
  since: Version,
  /** Whether only the patch number increased: users do not expect a patch to use new resources. */
  patch: v.boolean(),
  added: Access,
})
export type Widens = v.InferOutput<typeof Widens>

const Verdict = v.object({ score: Security.entries.score, verdict: Security.entries.verdict })

export const FileDiff = v.object({
  path: v.string(),
  status: v.picklist(['added', 'removed', 'changed']),
  /** Whether the newer version may run the file as a program, if this differs from the older version. */
  executable: v.optional(v.boolean()),
  binary: v.boolean(),
  /** A git patch of this file. The patches of all files, concatenated, are a patch of the version. */
  diff: v.nullable(v.string()),
  /** Why there is no patch. */
  omitted: v.optional(v.picklist(['binary', 'too large'])),
})
/** The difference of one file between two versions. */
export type FileDiff = v.InferOutput<typeof FileDiff>

/** The differences between two versions of a skill. */
export const SkillDiff = v.object({
  skill: v.object({ id: Id, fullName: v.string() }),
  from: Version,
  to: Version,
  /** The files that differ: SKILL.md first, the others by path. */
  files: v.array(FileDiff),
  access: v.object({ added: Access, removed: Access }),
  security: v.object({ from: v.nullable(Verdict), to: v.nullable(Verdict) }),
  /** The verdict on what `to` changes, also if `to` is the lower version; null until a rescan has read both. */
  change: v.nullable(Change),
})
export type SkillDiff = v.InferOutput<typeof SkillDiff>
