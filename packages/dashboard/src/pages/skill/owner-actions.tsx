import type { SkillDetails } from '@skillstead/protocol'
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh } from '../../data/queries.ts'
import { refreshSkill } from '../../data/refresh-skill.ts'
import { useMe } from '../../data/session.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { Field, Form, Select, TextArea, useAction } from '../../ui/form.tsx'
import { HandOver } from './owner/hand-over.tsx'
import { ModerationOfSkill } from './owner/moderation.tsx'
import { Shares } from './owner/shares.tsx'
import { Standing } from './owner/standing.tsx'
import { Yanks } from './owner/yanks.tsx'

const visibilities = [
  ['public', 'Public: all users and guests'],
  ['internal', 'Internal: users of this node'],
  ['private', 'Private: you and your collaborators'],
] as const
type Visibility = (typeof visibilities)[number][0]

/** The owner's actions on a skill, and the moderation actions of administrators. */
export function OwnerActions({ skill }: { skill: SkillDetails }) {
  const me = useMe()
  const [isOpened, setOpened] = useState(false)
  const isOwner = me != null && isOwnedBy(skill.fullName, me.username) && skill.origin.kind !== 'mirror'
  const isAdmin = me?.role === 'admin'
  if (!isOwner && !isAdmin) return null
  return (
    <>
      {isOwner && <Standing name={skill.fullName} />}
      <details class="card" onToggle={(event) => setOpened(isOpened || event.currentTarget.open)}>
        <summary>Manage this skill</summary>
        {isOpened && isOwner && <OwnersPart skill={skill} />}
        {isOpened && isAdmin && <ModerationOfSkill name={skill.fullName} />}
        {isOpened && isOwner && <Withdrawal name={skill.fullName} />}
      </details>
    </>
  )
}

function OwnersPart({ skill }: { skill: SkillDetails }) {
  return (
    <>
      <Deprecation skill={skill} />
      <Details skill={skill} />
      <Yanks skill={skill} />
      {skill.visibility !== 'public' && <Shares name={skill.fullName} />}
      <HandOver name={skill.fullName} />
    </>
  )
}

export function isOwnedBy(fullName: string, username: string): boolean {
  return fullName.split('/')[0] === username
}

function Deprecation({ skill: { fullName, deprecated, deprecationMessage } }: { skill: SkillDetails }) {
  const action = useAction(async ({ message = '' }: Record<string, string>) => {
    await api.publishSkill({ name: fullName, deprecated: !deprecated, deprecationMessage: deprecated ? '' : message })
    await refreshSkill()
  })
  return (
    <section>
      <h2>Deprecation</h2>
      <Form action={action} submit={deprecated ? 'Undo the deprecation' : 'Deprecate'}>
        {deprecated ? (
          <p dir="auto">This skill is deprecated. {deprecationMessage}</p>
        ) : (
          <Field
            label="What to use instead"
            name="message"
            maxLength={1000}
            hint="Shown to users who have it installed."
          />
        )}
      </Form>
    </section>
  )
}

function Details({ skill }: { skill: SkillDetails }) {
  const action = useAction(async (fields: Record<string, string>) => {
    const { description, displayName, category, license, keywords = '', repository } = fields
    await api.publishSkill({
      name: skill.fullName,
      visibility: fields.visibility as Visibility,
      description,
      displayName,
      category,
      license,
      repository,
      keywords: keywords
        .split(',')
        .map((word) => word.trim())
        .filter(Boolean),
    })
    await refreshSkill()
  })
  return (
    <section>
      <h2>Details and visibility</h2>
      <Form action={action} submit="Save" done="Saved.">
        <Select label="Visibility" name="visibility" value={skill.visibility} options={visibilities} />
        <Field label="Display name" name="displayName" maxLength={100} required defaultValue={skill.displayName} />
        <TextArea label="Description" name="description" required maxLength={1024} value={skill.description} />
        <Field label="Category" name="category" maxLength={64} defaultValue={skill.category} />
        <Field label="Licence" name="license" maxLength={128} defaultValue={skill.license} />
        <Field label="Keywords" name="keywords" hint="Separated by commas." defaultValue={skill.keywords.join(', ')} />
        <Field label="Repository" name="repository" type="url" maxLength={500} defaultValue={skill.repository} />
      </Form>
    </section>
  )
}

function Withdrawal({ name }: { name: string }) {
  const { route } = useLocation()
  return (
    <section>
      <h2>Delete</h2>
      <ConfirmButton
        action="Delete the skill"
        title={`Withdraw ${name}?`}
        work={async () => {
          await api.deleteSkill({ name })
          // Leave the page of the skill first: after the deletion it has no content.
          route('/account/skills')
          await Promise.all([refresh('skills'), refresh('own-skills')])
        }}
      >
        <p>
          It is deleted for all users, on mirrors too, and its name cannot be used again. This cannot be undone. To
          advise against it, deprecate it instead; to withdraw one version, yank that version.
        </p>
      </ConfirmButton>
    </section>
  )
}
