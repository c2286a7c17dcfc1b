import { api } from '../../api.ts'
import { refresh } from '../../data/queries.ts'
import { Decide } from './decide.tsx'

const decisions = [
  ['shown', 'Show it'],
  ['flagged', 'Flag: warn users who installed it'],
  ['hidden', 'Hide it'],
] as const

/** Flags a skill, hides it, or shows it again. */
export function ModerationDecision({ name }: { name: string }) {
  return (
    <Decide
      subject={name}
      decisions={decisions}
      noteHint="The reason, which the owner can read."
      work={async (state, reason) => {
        await api.moderateSkill({ name, state, reason })
        await Promise.all([refresh('moderated'), refresh('moderation'), refresh('skill'), refresh('own-skills')])
      }}
    />
  )
}
