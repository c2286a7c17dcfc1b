import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { addresses, toOwnPath } from '../../addresses.ts'
import { useNotices } from '../../notices.ts'
import { useMe } from '../../session.ts'
import { Field, Form, Outcome, unlessBusy, useAction, type Fields } from '../../ui/form.tsx'
import { Picture } from '../../ui/own-files.tsx'
import { Page } from '../../ui/page.tsx'
import { Badge, Count, toCount, UserLink } from '../../ui/parts.tsx'
import { OrganisationList } from '../organisations/organisation-list.tsx'
import { useOrganisations } from '../../organisations.ts'
import { Inbox } from './inbox.tsx'

/** The signed-in user, the plan, and the public profile. */
export function OverviewPage() {
  const me = useMe()!
  const { skills, packs, webhooks, followers, following } = me.counts
  const notices = useNotices()
  const isReading = useOrganisations().isPending || notices.isPending
  return (
    <Page title={me.displayName || me.username} hint="Your account: what waits for you, and how others see you.">
      <p class="facts">
        <UserLink name={me.username} />
        <Badge>{me.plan} plan</Badge>
        {me.role === 'admin' && <Badge tone="good">administrator</Badge>}
        {me.verified.map((method) => (
          <Badge key={method} tone="good">
            verified by {method}
          </Badge>
        ))}
      </p>
      <p class="facts">
        <a href="/account/skills">{toCount(skills, 'skill')}</a>
        <a href={addresses.packsOf(me.username)}>{toCount(packs, 'pack')}</a>
        <a href="/account/webhooks">{toCount(webhooks, 'webhook')}</a>
        <Count of={followers} unit="follower" />
        <span>follows {following.toLocaleString('en')}</span>
      </p>
      <Inbox />
      {!isReading && (
        <>
          <OrganisationList />
          <h2>Profile</h2>
          <Form work={changeProfile} submit="Save" done="Saved.">
            <Field label="Display name" name="displayName" required maxLength={100} defaultValue={me.displayName} />
            <Field
              label="E-mail"
              name="email"
              type="email"
              maxLength={254}
              autocomplete="email"
              defaultValue={me.email ?? ''}
              hint="For notices about approvals, if this node sends e-mail. Only you see it."
            />
          </Form>
          <OwnPicture />
        </>
      )}
    </Page>
  )
}

const changeProfile = ({ displayName, email }: Fields) => api.updateMe({ displayName, email: email || null })

const pictureBytesMax = 256 * 1024
type PictureType = 'image/png' | 'image/jpeg' | 'image/webp'

function OwnPicture() {
  const me = useMe()!
  const [changes, setChanges] = useState(0)
  const change = useAction(async (file: File | null) => {
    const avatar = file && { contentType: file.type as PictureType, content: await readAsBase64(file) }
    await api.updateMe({ avatar })
    setChanges(changes + 1)
  })
  return (
    <>
      <h2>Picture</h2>
      {/* A new picture has the same address as the old picture; with another `key` the page loads it again. */}
      <Picture key={changes} class="avatar" path={toOwnPath(me.avatarUrl)} alt="Your picture" width={64} height={64} />
      <div class="row">
        <label class="button">
          Choose a picture
          <input
            class="unseen"
            type="file"
            accept="image/png,image/jpeg,image/webp"
            onChange={({ currentTarget: { files } }) => files?.[0] && change.run(files[0])}
          />
        </label>
        <button type="button" {...unlessBusy({ busy: change.busy, run: () => change.run(null) })}>
          Remove picture
        </button>
      </div>
      <p class="faint">PNG, JPEG or WebP, at most {pictureBytesMax / 1024} KiB.</p>
      <Outcome of={change} />
    </>
  )
}

async function readAsBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
