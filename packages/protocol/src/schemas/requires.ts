import * as v from 'valibot'
import { boundedArray, boundedText, Digest, SkillRef, Version } from './fields.ts'
import { limits } from '../limits.ts'

/**
 * A skill that another skill requires. A name without an owner means a skill of the same owner. An optional skill that
 * does not exist is not installed.
 */
const RequiredSkill = v.object({
  name: v.string(),
  /** As in npm: `^1.2.0`, `~1.2.0`, `>=1.0.0`, `1.2.3`, or `*` for any version. */
  range: v.string(),
  optional: v.optional(v.literal(true)),
})

const names = v.array(v.string())

/** The requirements in the frontmatter of a skill. `a | b` in `commands` means that either command suffices. */
export const Requires = v.object({ skills: v.array(RequiredSkill), commands: names, mcpServers: names, env: names })
export type Requires = v.InferOutput<typeof Requires>

/** Skills to resolve. A skill without a range is resolved to its latest version. */
export const ResolveInput = v.strictObject({
  skills: boundedArray(
    v.strictObject({ name: SkillRef, range: v.optional(boundedText(limits.rangeCharactersMax)) }),
    limits.resolveSkillsMax,
    1,
  ),
})

const Requirer = { fullName: v.string(), version: Version, range: v.string() }

/** The versions to install, each after the versions that it requires. */
export const Resolution = v.object({
  skills: v.array(
    v.object({
      fullName: v.string(),
      version: Version,
      digest: Digest,
      /** The skills of this resolution that require this skill; empty if only the request names it. */
      requiredBy: v.array(v.object(Requirer)),
      requires: Requires,
    }),
  ),
  /** Optional skills that do not exist, or that the caller may not see. */
  missing: v.array(v.object({ name: v.string(), requiredBy: v.object(Requirer) })),
})
export type Resolution = v.InferOutput<typeof Resolution>
