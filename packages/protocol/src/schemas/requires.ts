import * as v from 'valibot'
import { boundedArray, boundedText, Digest, SkillRef, Version } from './fields.ts'
import { limits } from '../limits.ts'

/**
 * A skill that another one requires. A name without an owner means a skill of the same owner. An optional skill that does
 * not exist is left out.
 */
const RequiredSkill = v.object({
  name: v.string(),
  /** As in npm: `^1.2.0`, `~1.2.0`, `>=1.0.0`, `1.2.3`, or `*` for any version. */
  range: v.string(),
  optional: v.optional(v.literal(true)),
})

const names = v.array(v.string())

/** What a skill requires, as its frontmatter says. `a | b` in `commands` means one of them. */
export const Requires = v.object({ skills: v.array(RequiredSkill), commands: names, mcpServers: names, env: names })
export type Requires = v.InferOutput<typeof Requires>

/** Skills to resolve. Without a range, the latest version. */
export const ResolveInput = v.strictObject({
  skills: boundedArray(
    v.strictObject({ name: SkillRef, range: v.optional(boundedText(limits.rangeCharactersMax)) }),
    limits.resolveSkillsMax,
    1,
  ),
})

const Requirer = { fullName: v.string(), version: Version, range: v.string() }

/** The versions to install, each after the ones that it requires. */
export const Resolution = v.object({
  skills: v.array(
    v.object({
      fullName: v.string(),
      version: Version,
      digest: Digest,
      /** The skills of this resolution that require it; empty for a skill of the request that no other one requires. */
      requiredBy: v.array(v.object(Requirer)),
      requires: Requires,
    }),
  ),
  /** Optional skills that do not exist, or that the caller may not see. */
  missing: v.array(v.object({ name: v.string(), requiredBy: v.object(Requirer) })),
})
export type Resolution = v.InferOutput<typeof Resolution>
