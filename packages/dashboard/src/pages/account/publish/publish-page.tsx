import { cutList } from '@skillstead/protocol'
import { useState } from 'preact/hooks'
import { api } from '../../../api.ts'
import { addresses } from '../../../addresses.ts'
import { Outcome, onlyFilled, useAction, Field, Form, Select, TextArea, type Fields } from '../../../ui/form.tsx'
import { Page } from '../../../ui/page.tsx'
import { Preview, type Outline, type Wishes } from './preview.tsx'
import { readDrop, type Upload } from './read-drop.ts'
import { useOwners, toVisibilityFields, toVisibilityOptions } from '../../../organisations.ts'
import { NameLink, Notice } from '../../../ui/parts.tsx'

type Published = Awaited<ReturnType<typeof api.publishSkill>>

/** Publishes a skill in three steps: drop, preview, publish. Nothing is stored before the last step. */
export function PublishPage() {
  const look = useAction(
    async ({ taken, wishes }: { taken: Upload; wishes: Wishes }): Promise<Outline> => ({
      wishes,
      result: await publishUpload(taken, wishes, true),
    }),
    true,
  )
  const go = useAction(() => publishUpload(upload!, look.result!.wishes, false))
  const take = useAction(async (event: Event) => {
    go.reset()
    look.reset()
    const taken = await readDrop(event).catch((error: Error) => {
      throw new DropError(error.message)
    })
    look.run({ taken, wishes: {} })
    return taken
  }, true)
  const upload = take.result
  return (
    <Page
      title="Publish a skill"
      hint="A skill is a folder with a SKILL.md. The node first scans it and shows what it would publish; nothing is stored yet."
    >
      {go.result && <Done published={go.result} />}
      <DropZone onDrop={take.run} />
      {take.error instanceof DropError ? (
        <p class="problem" role="alert">
          {take.error.message}
        </p>
      ) : (
        <Outcome of={take} />
      )}
      {upload && !go.result && (
        <section aria-label={`Publishing ${upload.title}`}>
          <Settings key={upload.title} busy={look.busy} onChange={(wishes) => look.run({ taken: upload, wishes })} />
          <Outcome of={look} />
          {upload.leftOut.length > 0 && <LeftOut files={upload.leftOut} />}
          {look.busy && <p role="status">Reading and scanning {upload.title}…</p>}
          {look.result && <Preview outline={look.result} publish={go} />}
        </section>
      )}
    </Page>
  )
}

/** An error in the dropped files, with a message of the dashboard. */
class DropError extends Error {}

const publishUpload = ({ contentType, body }: Upload, wishes: Wishes, dryRun: boolean): Promise<Published> =>
  api.publishSkill({ ...wishes, dryRun, archive: { contentType, body } })

const leftOutShownMax = 5

function LeftOut({ files }: { files: Upload['leftOut'] }) {
  const { shown, more } = cutList(files, leftOutShownMax)
  return (
    <p class="notice fair">
      These files are left out of the skill: <bdi>{shown.join(', ')}</bdi>
      {more > 0 && ` and ${more} more`}.
    </p>
  )
}

const Done = ({ published: { skill, version, quarantined } }: { published: Published }) =>
  quarantined?.reason === 'approval' ? (
    <Notice tone="fair">
      {quarantined.fullName} {quarantined.version} waits for approval: it is published when its reviewers approve it.{' '}
      <a href={addresses.review(quarantined.id)}>See the submission.</a>
    </Notice>
  ) : quarantined ? (
    <Notice tone="fair">
      {quarantined.fullName} {quarantined.version} was quarantined by the scan policy of this node until an
      administrator releases it.
    </Notice>
  ) : (
    <Notice>
      Published <NameLink href={addresses.skill(skill.fullName)} name={skill.fullName} /> {version.version}.{' '}
      <a href={addresses.skill(skill.fullName, 'security')}>See the scan findings.</a>
    </Notice>
  )

/** A drop zone for a folder, an archive or a SKILL.md; buttons do the same for keyboards and phones. */
function DropZone({ onDrop }: { onDrop(event: Event): void }) {
  const [over, setOver] = useState(false)
  return (
    <div
      class={over ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onDrop(event)
      }}
    >
      <p>
        <strong>Drop the folder of a skill here</strong>, or a zip, tar.gz or SKILL.md.
      </p>
      <div class="row">
        <label class="button">
          Choose a folder
          <input class="unseen" type="file" {...{ webkitdirectory: true }} onChange={onDrop} />
        </label>
        <label class="button">
          Choose a file
          <input class="unseen" type="file" accept=".zip,.skill,.tgz,.gz,.md" onChange={onDrop} />
        </label>
      </div>
    </div>
  )
}

const unchanged = ['', 'Unchanged; public for a new skill'] as const

/** Settings of the publication; they apply to the next preview. */
function Settings({ busy, onChange }: { busy: boolean; onChange(wishes: Wishes): void }) {
  const owners = useOwners()
  const [owner, setOwner] = useState('')
  const change = ({ visibility, ...fields }: Fields) =>
    onChange({ ...onlyFilled(fields), ...toVisibilityFields(visibility, owner || undefined) })
  return (
    <Form
      card={owners.length > 1 ? 'Owner, version, changes, visibility' : 'Version, changes, visibility'}
      action={{ run: change, busy, done: false, error: null }}
      submit="Check again"
    >
      {owners.length > 1 && <Select label="Owner" name="owner" value={owner} options={owners} onChange={setOwner} />}
      <Field label="Name" name="name" hint="Empty: the name in SKILL.md." />
      <Field label="Version" name="version" pattern="\d+\.\d+\.\d+.*" hint="Empty: the next patch version." />
      <TextArea label="What changed" name="changelog" maxLength={10000} />
      <Select label="Visibility" name="visibility" options={[unchanged, ...toVisibilityOptions(owner || undefined)]} />
    </Form>
  )
}
