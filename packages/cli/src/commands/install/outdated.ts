import { toOneLine } from '@skillstead/protocol'
import { command } from '../../command/command.ts'
import { globalOption } from '../../install/install-place.ts'
import { listLocked, openSession } from '../../install/session.ts'
import { listNotices, toNoticeText } from '../../install/update-items.ts'
import { placeOptions } from '../../registry/place.ts'

export const commands = {
  outdated: command({
    description:
      'List installed skills that have a newer version or a warning from their registry: recalled, yanked, deprecated, ' +
      'dangerous or taken down. Exit code 1 when there are any.',
    words: ['[NAME...]'],
    options: { ...globalOption, ...placeOptions },
    async run(given, output) {
      const session = await openSession(given, output)
      return { skills: await listNotices(session, listLocked(session)) }
    },
    show({ skills }) {
      if (skills.length === 0) return ['All skills are at their latest version.']
      const heads = skills.map(({ fullName, version }) => `${fullName}@${version}`)
      const width = Math.max(...heads.map(({ length }) => length))
      const reasons = Math.max(...skills.map(({ reason }) => reason.length))
      return skills.map(
        (notice, i) =>
          `${heads[i]!.padEnd(width)}  ${notice.reason.padEnd(reasons)}  ${toOneLine(toNoticeText(notice))}`,
      )
    },
    hasFailed: ({ skills }) => skills.length > 0,
  }),
}
