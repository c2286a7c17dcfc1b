import { useState } from 'preact/hooks'
import { api } from '../../../api.ts'
import { addresses } from '../../../addresses.ts'
import { refresh } from '../../../data/queries.ts'
import { Outcome, useAction } from '../../../ui/form.tsx'
import { Page } from '../../../ui/page.tsx'
import { DropZone } from './drop-zone.tsx'
import { Preview, type Outline } from './preview.tsx'
import { readDrop, type Upload } from './read-drop.ts'
import { Settings, type Wishes } from './settings.tsx'

type Published = Awaited<ReturnType<typeof api.publishSkill>>

/** Publishing in three steps: drop, preview, publish. Nothing is stored before the last. */
export function PublishPage() {
  const [upload, setUpload] = useState<Upload>()
  const [outline, setOutline] = useState<Outline>()
  const [published, setPublished] = useState<Published>()
  const look = useAction(async ({ taken, wishes }: { taken: Upload; wishes: Wishes }) => {
    setOutline(undefined)
    setOutline({ wishes, result: await publish(taken, wishes, true) })
  })
  const take = useAction(async (event: Event) => {
    setPublished(undefined)
    setUpload(undefined)
    setOutline(undefined)
    const taken = await readDrop(event).catch((error: Error) => {
      throw new DropError(error.message)
    })
    setUpload(taken)
    look.run({ taken, wishes: {} })
  })
  const go = useAction(async () => {
    setPublished(await publish(upload!, outline!.wishes, false))
    setUpload(undefined)
    setOutline(undefined)
    await Promise.all([refresh('skills'), refresh('own-skills'), refresh('skill')])
  })
  return (
    <Page title="Publish a skill">
      {published && <Done published={published} />}
      <DropZone onDrop={take.run} />
      <p class="faint">The node first reads and scans it, and shows what it would publish. Nothing is stored yet.</p>
      {take.error instanceof DropError ? (
        <p class="problem" role="alert">
          {take.error.message}
        </p>
      ) : (
        <Outcome of={take} />
      )}
      {upload && (
        <section aria-label={`Publishing ${upload.title}`}>
          <Settings key={upload.title} busy={look.busy} onChange={(wishes) => look.run({ taken: upload, wishes })} />
          <Outcome of={look} />
          {upload.leftOut.length > 0 && <LeftOut files={upload.leftOut} />}
          {look.busy && <p role="status">Reading and scanning {upload.title}…</p>}
          {outline && !look.busy && <Preview outline={outline} publish={go} />}
        </section>
      )}
    </Page>
  )
}

/** An error in the dropped files, with a message of our own. */
class DropError extends Error {}

function publish({ contentType, body }: Upload, wishes: Wishes, dryRun: boolean): Promise<Published> {
  return api.publishSkill({ ...wishes, dryRun, archive: { contentType, body } })
}

const leftOutShownMax = 5

function LeftOut({ files }: { files: Upload['leftOut'] }) {
  const more = files.length - leftOutShownMax
  return (
    <p class="notice fair">
      These files are left out of the skill: <bdi>{files.slice(0, leftOutShownMax).join(', ')}</bdi>
      {more > 0 && ` and ${more} more`}.
    </p>
  )
}

function Done({ published: { skill, version, quarantined } }: { published: Published }) {
  if (quarantined) {
    return (
      <p class="notice fair" role="status">
        {quarantined.fullName} {quarantined.version} was quarantined by the scan policy of this node until an
        administrator releases it.
      </p>
    )
  }
  return (
    <p class="notice good" role="status">
      Published{' '}
      <a href={addresses.skill(skill.fullName)}>
        <bdi>{skill.fullName}</bdi>
      </a>{' '}
      {version.version}. <a href={addresses.skill(skill.fullName, 'security')}>See the scan findings.</a>
    </p>
  )
}
