import { toOneLine } from '@skillstead/protocol'
import { endpointCommand } from '../../registry/endpoint-command.ts'
import { toCount } from '../../terminal/output.ts'

export const commands = {
  downloads: endpointCommand('getDownloads', {
    description: 'Show the downloads of a skill for each day (UTC) that has any, and all of them.',
    words: { NAME: 'name' },
    options: {
      by: { value: 'WHAT', help: 'also list them by version or by client; for the owner of the skill' },
      days: { value: 'N', help: 'the number of days, today included, at most 365. Default: 30' },
    },
    show: ({ days, total, groups = [] }) => [
      ...days
        .filter(({ downloads }) => downloads > 0)
        .map(
          ({ day, downloads, installs }) =>
            `${day}  ${toCount(downloads, 'download')}, ${toCount(installs, 'install')}`,
        ),
      ...groups.map(
        ({ name, downloads, installs }) =>
          `${toOneLine(name)}  ${toCount(downloads, 'download')}, ${toCount(installs, 'install')}`,
      ),
      `${toCount(total, 'download')} in ${toCount(days.length, 'day')}.`,
    ],
  }),
  installers: endpointCommand('listInstallers', {
    description: 'Show which users installed your skill, if the operator of the node records it.',
    words: { NAME: 'name' },
    options: { page: { value: 'N', help: 'the page to show. Default: 1' } },
    fixed: { limit: 100 },
    show: ({ recorded, installers, total }) => [
      ...installers.map(({ username, version, day }) => `${day}  ${username}  ${version}`),
      `${toCount(total, 'user')}.${recorded ? '' : ' This node does not record who installs skills.'}`,
    ],
  }),
}
