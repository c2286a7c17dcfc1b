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
import { toApprovalWords } from '../reviews/reviews-page.tsx'
import { ActionButton, ConfirmButton } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Shown } from '../../ui/page.tsx'
import { Time, UserLink } from '../../ui/parts.tsx'
import { FullName, SkillLink } from '../../ui/skill-list.tsx'

/** What waits for the user: invitations, transfers, versions to review or in quarantine, moderated skills and failing webhooks. */
export function Inbox() {
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
            <ul class="inbox">
              {notices.invitations.map((one) => (
                <Invitation key={one.fullName} of={one} />
              ))}
              {notices.memberships.map((one) => (
                <Membership key={one.organisation} of={one} />
              ))}
              {notices.received.map((one) => (
                <Received key={one.fullName} of={one} />
              ))}
              {notices.moderated.map((one) => (
                <Item key={one.id} icon={OctagonX}>
                  <SkillLink name={one.fullName} />{' '}
                  {one.state === 'taken_down'
                    ? 'is taken down after a notice of a copyright holder.'
                    : `was ${one.state === 'hidden' ? 'hidden' : 'flagged'} by an administrator.`}{' '}
                  Its page has the reason and what you can do.
                </Item>
              ))}
              {notices.quarantined.map((one) =>
                one.reason === 'approval' ? (
                  <Submission key={one.id} of={one} />
                ) : (
                  <Quarantined key={one.id} of={one} />
                ),
              )}
              {notices.failing.map((one) => (
                <Item key={one.id} icon={Webhook} at={one.lastDelivery?.at}>
                  The last delivery to your webhook <a href={addresses.webhook(one.id)}>{one.url}</a> failed.
                </Item>
              ))}
              {notices.offered.map((one) => (
                <Item
                  key={`${one.fullName} ${one.newOwner}`}
                  icon={ArrowLeftRight}
                  at={one.createdAt}
                  actions={<CancelTransfer name={one.fullName}>Withdraw the offer</CancelTransfer>}
                >
                  <SkillLink name={one.fullName} /> is offered to <bdi>{one.newOwner}</bdi>.
                </Item>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  )
}

/** One notice: a sentence with its time, and what the user can do. */
function Item(props: {
  icon: IconNode
  at?: string | undefined
  actions?: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <li>
      <Icon of={props.icon} />
      <span>
        {props.children}{' '}
        {props.at && (
          <span class="faint">
            <Time at={props.at} />
          </span>
        )}
      </span>
      {props.actions && <div class="row">{props.actions}</div>}
    </li>
  )
}

function Invitation({ of: { fullName, owner, role, createdAt } }: { of: Notices['invitations'][number] }) {
  const { username } = useMe()!
  return (
    <Invited
      at={createdAt}
      accept={() => api.acceptCollaboration({ name: fullName })}
      decline={() => api.deleteCollaborator({ name: fullName, username })}
    >
      <bdi>{owner}</bdi> invites you to {role === 'write' ? 'publish' : 'read'} <SkillLink name={fullName} />.
    </Invited>
  )
}

function Membership({ of: { organisation, role, createdAt } }: { of: Notices['memberships'][number] }) {
  const { username } = useMe()!
  return (
    <Invited
      at={createdAt}
      accept={() => api.acceptMembership({ organisation })}
      decline={() => api.deleteMember({ organisation, username })}
    >
      <UserLink name={organisation} /> invites you to become a member, as {role}.
    </Invited>
  )
}

function Invited(props: {
  at: string
  accept: () => Promise<unknown>
  decline: () => Promise<unknown>
  children: ComponentChildren
}) {
  const actions = (
    <>
      <ActionButton work={props.accept}>Accept</ActionButton>
      <ActionButton work={props.decline}>Decline</ActionButton>
    </>
  )
  return (
    <Item icon={UserPlus} at={props.at} actions={actions}>
      {props.children}
    </Item>
  )
}

/** A version that waits for reviewers: to review, or submitted by the user. */
function Submission({
  of: { id, fullName, version, publisher, approvals, createdAt },
}: {
  of: Notices['quarantined'][number]
}) {
  const isOwn = publisher.username === useMe()!.username
  return (
    <Item icon={GitPullRequest} at={createdAt}>
      {isOwn ? 'Your' : 'Review'}{' '}
      <a href={addresses.review(id)}>
        <FullName name={fullName} /> {version}
      </a>
      {isOwn ? ` waits for approval` : ` by ${publisher.username}`}: {approvals && toApprovalWords(approvals)}.
    </Item>
  )
}

type Transfer = Notices['received'][number]

function Received({ of: { fullName, newOwner, createdAt } }: { of: Transfer }) {
  const isOwn = newOwner === useMe()!.username
  return (
    <Item
      icon={ArrowLeftRight}
      at={createdAt}
      actions={
        <>
          <ConfirmButton
            action="Accept"
            class=""
            title={`Accept ${fullName}?`}
            work={() => api.acceptTransfer({ name: fullName })}
          >
            <p>
              {isOwn ? 'You become' : `${newOwner} becomes`} its owner, with all its versions. Its former address
              redirects to the new one.
            </p>
          </ConfirmButton>
          <CancelTransfer name={fullName}>Decline</CancelTransfer>
        </>
      }
    >
      <SkillLink name={fullName} /> is offered to {isOwn ? 'you' : <bdi>{newOwner}</bdi>}.
    </Item>
  )
}

function CancelTransfer({ name, children }: { name: string; children: string }) {
  return <ActionButton work={() => api.cancelTransfer({ name })}>{children}</ActionButton>
}

function Quarantined({ of: { id, fullName, version, published, createdAt } }: { of: Notices['quarantined'][number] }) {
  return (
    <Item
      icon={ShieldAlert}
      at={createdAt}
      actions={
        !published && (
          <ConfirmButton
            action="Withdraw"
            title={`Withdraw ${fullName} ${version}?`}
            work={() => api.deleteQuarantined({ id })}
          >
            <p>The version is deleted and will not be published. You can publish a better one.</p>
          </ConfirmButton>
        )
      }
    >
      {published ? <SkillLink name={fullName} /> : <bdi>{fullName}</bdi>} {version} is quarantined by its scan
      {published ? ': it is no longer served.' : ', until an administrator decides.'}
    </Item>
  )
}
