import { accessKinds, cutList, type Access, type AccessKind } from '@skillstead/protocol'

/** The titles of the kinds of access. */
export const accessTitles: Readonly<Record<AccessKind, string>> = {
  tools: 'Tools of the agent, and MCP servers',
  commands: 'Programs it runs',
  hosts: 'Hosts it calls',
  environment: 'Environment variables',
  packages: 'Packages it installs',
  files: 'Files outside its folder',
}
const shownMax = 50

/** The kinds of access that a version has, each with at most `most` names and the number of its other names. */
function toUsedKinds(access: Access, most: number) {
  const used = accessKinds.filter((kind) => access[kind].length > 0)
  return used.map((kind) => ({ kind, ...cutList(access[kind], most) }))
}

export const isEmptyAccess = (access: Access): boolean => toUsedKinds(access, 0).length === 0

/** The tools, hosts and other resources that a version uses according to its text: one line per kind that has any. */
export const AccessList = ({ access }: { access: Access }) => (
  <>
    <dl class="access">
      {toUsedKinds(access, shownMax).map(({ kind, shown, more }) => (
        <div key={kind}>
          <dt>{accessTitles[kind]}</dt>
          <dd>
            <ul class="words">
              {shown.map((name) => (
                <li key={name}>
                  <code>
                    <bdi>{kind === 'environment' && name === '*' ? 'all of them' : name}</bdi>
                  </code>
                </li>
              ))}
              {more > 0 && <li>and {more} more</li>}
            </ul>
          </dd>
        </div>
      ))}
    </dl>
    {access.cut.length > 0 && (
      <p class="hint">
        Not everything is listed: <bdi>{access.cut.join('; ')}</bdi>
      </p>
    )}
  </>
)

const verbs: Readonly<Record<AccessKind, string>> = {
  commands: 'runs',
  hosts: 'calls',
  packages: 'installs',
  environment: 'reads variables',
  files: 'touches files',
  tools: 'uses tools',
}
const namesMax = 3

/** The resources that a version uses, in a few words per kind. */
export const Uses = ({ access }: { access: Access }) => (
  <ul class="plain-links may">
    {toUsedKinds(access, namesMax).map(({ kind, shown, more }) => (
      <li key={kind}>
        {verbs[kind]}{' '}
        {shown.map((name, place) => (
          <>
            {place > 0 && ', '}
            <code>
              <bdi>{name}</bdi>
            </code>
          </>
        ))}
        {more > 0 && ` and ${more} more`}
      </li>
    ))}
  </ul>
)
