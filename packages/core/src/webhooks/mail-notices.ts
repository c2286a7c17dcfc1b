import { type EventData, isRegistryError, toFields } from '@skillstead/protocol'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { EmittedEvent, PolicyPort } from '../catalogue/context/ports.ts'
import { minuteMs } from '../kernel/clock.ts'
import { AttemptError, type Topic } from '../outbox/jobs.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Dialect } from '../storage/dialect.ts'
import { isInList } from '../storage/list-query.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** A plain-text e-mail. */
export interface MailMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends the e-mail notices of a registry, such as through SMTP. */
export interface Mailer {
  /** The address of the node in links, without a slash at its end. */
  readonly publicUrl: string
  /** Rejects if the message was not accepted. The outbox then tries to send the message again. */
  send(message: MailMessage): Promise<void>
}

const topic: Topic<Notice & { readonly userId: string }> = 'mail.notice'
const retryDelaysMs = [minuteMs, 5 * minuteMs, 30 * minuteMs, 120 * minuteMs]
/**
 * Maximum e-mails to a user in an hour: addresses are not verified, and no one may fill the mailbox of another person.
 */
const perUserAndHour = 30

/** The events that are also sent by e-mail. */
type Notice = { [Name in 'skill.submitted' | 'skill.reviewed']: { event: Name; data: EventData<Name> } }[
  | 'skill.submitted'
  | 'skill.reviewed']

export type MailNotices = ReturnType<typeof createMailNotices>

/** Announces events to users by e-mail. The jobs in the outbox have no address: it is read when a job runs. */
export function createMailNotices(outbox: Outbox, dialect: Dialect) {
  return {
    async announce(trx: WriteTransaction, { event, data, ownerId, userIds }: EmittedEvent): Promise<void> {
      if (event !== 'skill.submitted' && event !== 'skill.reviewed') return
      const named = (await userIds?.()) ?? (ownerId === undefined ? [] : [ownerId])
      if (named.length === 0) return
      const users = await trx
        .selectFrom('users')
        .select('id')
        .where(isInList(dialect, 'id', named))
        .where('email', 'is not', null)
        .where('disabled', '=', 0)
        .execute()
      if (users.length === 0) return
      const notice = { event, data: await data() }
      await outbox.enqueue(
        trx,
        ...users.map(({ id }) => ({ topic, partition: topic, payload: { userId: id, ...notice } })),
      )
    },
  }
}

interface MailContext extends StorageContext {
  readonly outbox: Outbox
  readonly policies: PolicyPort
}

/** Registers the handler that sends the e-mail notices in the outbox. */
export function handleMailNotices(context: MailContext, mailer: Mailer): void {
  const limiter = new RateLimiterMemory({ points: perUserAndHour, duration: 3600 })
  context.outbox.handle(topic, {
    retryDelaysMs,
    async handle({ userId, ...notice }) {
      const to = await findAddress(context, userId, notice)
      if (to === undefined) return
      await limiter.consume(userId).catch(() => {
        throw new AttemptError(`Not sent: the user already got ${perUserAndHour} e-mails, the maximum per hour.`, {
          isFinal: true,
        })
      })
      await sendMessage(mailer, { to, ...toMailText(notice, mailer.publicUrl) })
    },
  })
}

/** The e-mail address of a user; undefined if there is none, or if the notice does not concern the user any more. */
async function findAddress({ database, policies }: MailContext, userId: string, { event, data }: Notice) {
  const user = await database.read
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .where('disabled', '=', 0)
    .executeTakeFirst()
  if (!user?.email) return undefined
  if (event === 'skill.reviewed') return user.email
  const item = await database.read
    .selectFrom('quarantine_items')
    .selectAll()
    .where('id', '=', data.submission.id)
    .where('reason', '=', 'approval')
    .executeTakeFirst()
  // The submission may be decided by now, or the user may no longer review.
  if (!item || !(await policies.findReviewers(database.read, item)).includes(userId)) return undefined
  return user.email
}

function toMailText({ event, data }: Notice, publicUrl: string): Pick<MailMessage, 'subject' | 'text'> {
  const { id, fullName, version } = data.submission
  const page = `${publicUrl}/account/reviews/${encodeURIComponent(id)}`
  const end = 'You get this e-mail because your account has this address. Remove it there to get none.'
  if (event === 'skill.submitted') {
    const subject = `Review ${fullName} ${version}`
    const lead = `${data.publisher.username} submitted version ${version} of ${fullName}. It waits for your review:`
    return { subject, text: `${lead}\n\n${page}\n\n${end}\n` }
  }
  const [done, link] = data.published
    ? ['published', `${publicUrl}/skills/${fullName}`]
    : [data.verdict === 'approved' ? 'approved' : 'returned with requested changes', page]
  const lead = `${data.reviewer.username} reviewed version ${version} of ${fullName}. It was ${done}:`
  return { subject: `${fullName} ${version} was ${done}`, text: `${lead}\n\n${link}\n\n${end}\n` }
}

async function sendMessage(mailer: Mailer, message: MailMessage): Promise<void> {
  // A line break in a header would add another header.
  if (/[\r\n]/.test(message.to + message.subject))
    throw new AttemptError('The e-mail has a line break in its address or subject.', { isFinal: true })
  try {
    await mailer.send(message)
  } catch (error) {
    if (isRegistryError(error, 'shutting_down')) throw error
    // Omit the text of the error: administrators see it in the outbox, and it may have credentials or the address.
    const { code, responseCode } = toFields(error)
    const known = [code, responseCode].filter((one) => typeof one === 'string' || typeof one === 'number')
    throw new AttemptError(
      `The e-mail could not be sent${known.length > 0 ? ` (${known.join(' ')})` : ''}. Check the mail server.`,
    )
  }
}
