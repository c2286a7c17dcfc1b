import * as v from 'valibot'
import { limits } from '../limits.ts'
import { memberRoles } from '../roles.ts'
import { accessKinds } from './access.ts'
import { boundedArray, boundedText, Timestamp, Username, wholeNumber } from './fields.ts'

/** Fields of a skill that a policy can require. */
export const requirableFields = ['license', 'category', 'keywords', 'repository'] as const

const Names = boundedArray(boundedText(200), limits.policyNamesMax)

/** The requirements of an organisation, or of a skill's manager, for new versions. An absent field requires nothing. */
export const Policy = v.strictObject({
  /** The approvals, by members with the right to review, that a version needs before it is published. */
  approvals: v.optional(
    v.strictObject({
      count: wholeNumber(1, 10),
      /** `widens`: only the first version, and versions that use resources which the previous version did not use. */
      when: v.optional(v.picklist(['always', 'widens']), 'always'),
      /** The users who may approve. Default: all who may review. */
      reviewers: v.optional(
        v.pipe(
          boundedArray(Username, limits.policyNamesMax),
          v.minLength(1, 'must name a reviewer; leave the field out for all who may review'),
        ),
      ),
    }),
  ),
  /** The worst verdict of the scan that is accepted. */
  verdict: v.optional(v.picklist(['safe', 'caution'])),
  /** The accepted licences, as SPDX identifiers in upper or lower case. */
  licenses: v.optional(Names),
  /** Kinds of access that no version may have. */
  withoutAccess: v.optional(boundedArray(v.picklist(accessKinds), accessKinds.length)),
  /** The hosts that versions may contact; `*.example.com` stands for all hosts below it. */
  hosts: v.optional(Names),
  requires: v.optional(boundedArray(v.picklist(requirableFields), requirableFields.length)),
  /** Maximum bytes of all files. */
  sizeMax: v.optional(wholeNumber(1, limits.versionBytesMax)),
  /** The pattern that names of skills must match; `*` stands for any characters. */
  namePattern: v.optional(boundedText(limits.skillNameCharactersMax)),
  /** The roles of members who may make a skill public. */
  publicBy: v.optional(boundedArray(v.picklist(memberRoles), memberRoles.length)),
})
/** The requirements of an organisation, or of a skill's manager, for new versions. */
export type Policy = v.InferOutput<typeof Policy>

/** A policy as stored; `policy` is empty if none was set. */
export const StoredPolicy = v.object({ policy: Policy, updatedAt: v.nullable(Timestamp) })

/** A rule that a skill breaks: the field of the policy, and a sentence. */
export const PolicyRefusal = v.object({ path: v.string(), message: v.string() })
/** A rule that a skill breaks. */
export type PolicyRefusal = v.InferOutput<typeof PolicyRefusal>
