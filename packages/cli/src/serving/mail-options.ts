import type { Mailer } from '@skillstead/core'
import { textOption, UsageError, type Arguments, type Options } from '../command/command.ts'

/** The options of e-mail notices. */
export const mailOptions: Options = {
  'smtp-url': {
    value: 'URL',
    help: 'the mail server for notices to users, as smtps://USER:PASSWORD@HOST (or SKILLSTEAD_SMTP_URL, which other users of this machine cannot read). Default: none',
  },
  'mail-from': { value: 'ADDRESS', help: 'the sender of notices, such as skills@example.com' },
}

const timeoutMs = 30_000

/** Creates a mailer for notices. Throws {@link UsageError} for incomplete or invalid options. */
export function toMailer(given: Arguments): Mailer | undefined {
  const [url, from, publicUrl] = ['smtp-url', 'mail-from', 'public-url'].map((name) => textOption(given, name))
  if (url === undefined && from === undefined) return undefined
  if (url === undefined || from === undefined || publicUrl === undefined)
    throw new UsageError('E-mail notices need --smtp-url, --mail-from and --public-url. Pass all three.')
  // The message does not repeat the URL, which may have a password.
  if (!/^smtps?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw new UsageError('--smtp-url is not the URL of a mail server. Use the form smtps://USER:PASSWORD@HOST:465.')
  if (!/^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(from))
    throw new UsageError('--mail-from is not an e-mail address. Use the form skills@example.com.')
  return {
    publicUrl: publicUrl.replace(/\/+$/, ''),
    async send(message) {
      const { createTransport } = await import('nodemailer')
      const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs }
      const transport = createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true })
      try {
        await transport.sendMail({ ...message, to: { name: '', address: message.to }, from })
      } finally {
        transport.close()
      }
    },
  }
}
