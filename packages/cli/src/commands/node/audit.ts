import { command, flag, textOption } from '../../command/command.ts'
import { toOutgoing } from '../../registry/outgoing-options.ts'
import { placeOptions, withApi } from '../../registry/place.ts'

const pageRows = 100

export const commands = {
  audit: command({
    description:
      'Show who did what on a node, newest first. With --json-lines, export every entry as a line of JSON, oldest first.',
    options: {
      actor: { value: 'NAME', help: 'only what this user did' },
      action: { value: 'ACTION', help: 'only actions whose name begins with this, such as quarantine.' },
      subject: { value: 'NAME', help: 'only what was done to this' },
      since: { value: 'TIME', help: 'only from this time, such as 2026-11-28 or 2026-11-28T12:00:00Z' },
      until: { value: 'TIME', help: 'only before this time' },
      page: { value: 'N', help: `the page to show; a page has ${pageRows} rows. Default: 1` },
      'json-lines': { help: 'print one line of JSON per entry' },
      ...placeOptions,
    },
    printsItself: true,
    async run(given, output) {
      const names = ['actor', 'action', 'subject', 'since', 'until']
      const filters = Object.fromEntries(names.map((name) => [name, textOption(given, name)]))
      const page = textOption(given, 'page')
      await withApi(
        given,
        async (api) => {
          if (flag(given, 'json-lines')) {
            for await (const line of toLines((await api.exportAudit(filters)).body)) output.copy(line)
            return
          }
          // The endpoint validates the number.
          const answer = await api.listAudit({ ...filters, limit: pageRows, page: page as unknown as number })
          if (output.json) return output.showJson(answer)
          for (const { at, actor, action, subject } of answer.entries)
            output.show(`${at}  ${actor ?? 'the node'}  ${action}  ${subject}`)
          output.show(`${answer.entries.length} of ${answer.total}.`)
        },
        { outgoing: await toOutgoing(given) },
      )
    },
  }),
}

async function* toLines(body: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body instanceof Uint8Array ? [body] : body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}
