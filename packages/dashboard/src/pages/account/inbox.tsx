import {
  ArrowLeftRight,
  GitPullRequest,
  type IconNode,
  Inbox as InboxIcon,
  OctagonX,
  ShieldAlert,
  UserPlus,
  Webhook,
} from 'lucide'
import type { ComponentChildren } from 'preact'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { type Notices, useNotices } from '../../notices.ts'
import { useMe } from '../../session.ts'
import { ReviewLink, toApprovalWords } from './reviews-pages.tsx'
import { ActionButton, ConfirmButton } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Shown } from '../../ui/page.tsx'
import { Time, UserLink } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'

/** What waits for the user: invitations, transfers, reviews, quarantined or moderated skills, and failing webhooks. */
export function Inbox() {
  const { username } = useMe()!
  const found = useNotices()
  return (
    <section aria-labelledby="inbox">
      <h2 id="inbox">Inbox</h2>
      <Shown of={found}>
        {(notices) =>
          Object.values(notices).every((some) => some.length === 0) ? (
            <p class="faint">
              <Icon of={InboxIcon} /> Nothing waits for you. Invitations, transfers, reviews and problems of your skills
              appear here.
            </p>
          ) : (
            <ul class="inbox">{toItems(notices, username)}</ul>
          )
        }
      </Shown>
    </section>
  )
}

/** One notice: a sentence with its time, and what the user can do. */
const Item = (props: { icon: IconNode; at?: string; actions?: ComponentChildren; children: ComponentChildren }) => (
  <li>
    <Icon of={props.icon} />
    <span>
      {props.children} {props.at && <Time at={props.at} faint />}
    </span>
    {props.actions && <div class="row">{props.actions}</div>}
  </li>
)

/** Buttons that accept or decline an invitation. */
const toAnswers = (accept: () => Promise<unknown>, decline: () => Promise<unknown>) => (
  <>
    <ActionButton work={accept}>Accept</ActionButton>
    <ActionButton work={decline}>Decline</ActionButton>
  </>
)

const toItems = (notices: Notices, username: string): ComponentChildren[] => [
  ...notices.invitations.map(({ fullName: name, owner, role, createdAt }) => (
    <Item
      key={name}
      icon={UserPlus}
      at={createdAt}
      actions={toAnswers(
        () => api.acceptCollaboration({ name }),
        () => api.deleteCollaborator({ name, username }),
      )}
    >
      <bdi>{owner}</bdi> invites you to {role === 'write' ? 'publish' : 'read'} <SkillLink name={name} />.
    </Item>
  )),
  ...notices.memberships.map(({ organisation, role, createdAt }) => (
    <Item
      key={organisation}
      icon={UserPlus}
      at={createdAt}
      actions={toAnswers(
        () => api.acceptMembership({ organisation }),
        () => api.deleteMember({ organisation, username }),
      )}
    >
      <UserLink name={organisation} /> invites you to become a member, as {role}.
    </Item>
  )),
  ...notices.received.map((one) => <Received key={one.fullName} of={one} isOwn={one.newOwner === username} />),
  ...notices.moderated.map(({ id, fullName, state }) => (
    <Item key={id} icon={OctagonX}>
      <SkillLink name={fullName} />{' '}
      {state === 'taken_down'
        ? 'is taken down after a notice of a copyright holder.'
        : `was ${state === 'hidden' ? 'hidden' : 'flagged'} by an administrator.`}{' '}
      Its page has the reason and what you can do.
    </Item>
  )),
  ...notices.quarantined.map((one) => <Waiting key={one.id} of={one} isOwn={one.publisher.username === username} />),
  ...notices.failing.map(({ id, url, lastDelivery }) => (
    <Item key={id} icon={Webhook} at={lastDelivery!.at}>
      The last delivery to your webhook <a href={addresses.webhook(id)}>{url}</a> failed.
    </Item>
  )),
  ...notices.offered.map(({ fullName, newOwner, createdAt }) => (
    <Item
      key={`${fullName} ${newOwner}`}
      icon={ArrowLeftRight}
      at={createdAt}
      actions={<ActionButton work={() => api.cancelTransfer({ name: fullName })}>Withdraw the offer</ActionButton>}
    >
      <SkillLink name={fullName} /> is offered to <bdi>{newOwner}</bdi>.
    </Item>
  )),
]

/** A version that waits for approval, to review or submitted by the user; or a version that its scan quarantined. */
function Waiting({ of, isOwn }: { of: Notices['quarantined'][number]; isOwn: boolean }) {
  const { id, fullName, version, publisher, approvals, createdAt, published } = of
  if (of.reason === 'approval') {
    return (
      <Item icon={GitPullRequest} at={createdAt}>
        {isOwn ? 'Your' : 'Review'} <ReviewLink of={of} />
        {isOwn ? ` waits for approval` : ` by ${publisher.username}`}: {approvals && toApprovalWords(approvals)}.
      </Item>
    )
  }
  const title = `Withdraw ${fullName} ${version}?`
  const withdraw = (
    <ConfirmButton action="Withdraw" title={title} work={() => api.deleteQuarantined({ id })}>
      <p>The version is deleted and will not be published. You can publish a better one.</p>
    </ConfirmButton>
  )
  return (
    <Item icon={ShieldAlert} at={createdAt} actions={!published && withdraw}>
      {published ? <SkillLink name={fullName} /> : <bdi>{fullName}</bdi>} {version} is quarantined by its scan
      {published ? ': it is no longer served.' : ', until an administrator decides.'}
    </Item>
  )
}

function Received({ of, isOwn }: { of: Notices['received'][number]; isOwn: boolean }) {
  const { fullName: name, newOwner, createdAt } = of
  const actions = (
    <>
      <ConfirmButton action="Accept" class="" title={`Accept ${name}?`} work={() => api.acceptTransfer({ name })}>
        <p>
          {isOwn ? 'You become' : `${newOwner} becomes`} its owner, with all its versions. Its former address redirects
          to the new one.
        </p>
      </ConfirmButton>
      <ActionButton work={() => api.cancelTransfer({ name })}>Decline</ActionButton>
    </>
  )
  return (
    <Item icon={ArrowLeftRight} at={createdAt} actions={actions}>
      <SkillLink name={name} /> is offered to {isOwn ? 'you' : <bdi>{newOwner}</bdi>}.
    </Item>
  )
}
