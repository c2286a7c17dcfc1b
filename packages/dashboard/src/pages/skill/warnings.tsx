import { addresses } from '../../addresses.ts'
import { isYanked } from './skill-head.tsx'
import { toTab, type ShownSkill } from './shown-skill.ts'

/** Warnings to read before installing this version. */
export function Warnings({ shown }: { shown: ShownSkill }) {
  const { skill, name, version } = shown
  const [highest] = skill.versions
  return (
    <>
      {skill.deprecated && (
        <div class="notice fair">
          <strong>Deprecated.</strong>{' '}
          {skill.deprecationMessage ? (
            <bdi>
              <WithSkills text={skill.deprecationMessage} />
            </bdi>
          ) : (
            'Its owner no longer maintains it.'
          )}
        </div>
      )}
      {skill.security?.verdict === 'dangerous' && (
        <div class="notice bad">
          <strong>Scan verdict: dangerous.</strong> Do not install it before you have read{' '}
          <a href={toTab(shown, 'security')}>the findings</a>.
        </div>
      )}
      {isYanked(shown) && (
        <div class="notice bad">
          <strong>Version {version} is yanked.</strong> Its owner withdrew it; it is still served by its exact version
          number.
        </div>
      )}
      {!version && highest && (
        <div class="notice bad">
          <strong>All versions are yanked.</strong> See{' '}
          <a href={`${addresses.skill(name)}?version=${highest.version}`}>{highest.version}</a> to see what it was.
        </div>
      )}
      {!version && !highest && (
        <div class="notice plain">
          <strong>Nothing is published here.</strong> This entry only records that a skill of this name exists
          elsewhere.
        </div>
      )}
      {version && skill.latestVersion && version !== skill.latestVersion && (
        <div class="notice plain">
          This is version {version}. <a href={addresses.skill(name)}>Show the latest, {skill.latestVersion}</a>.
        </div>
      )}
    </>
  )
}

/** `owner/name` in a text, as a deprecation message names a replacement; parts of a URL or path do not match. */
const fullNamePattern = /(?<![\w./-])([a-z0-9]+(?:-[a-z0-9]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*)(?![\w/-])/g

function WithSkills({ text }: { text: string }) {
  return (
    <>
      {text.split(fullNamePattern).map((part, place) =>
        place % 2 === 1 ? (
          <a key={place} href={addresses.skill(part)}>
            {part}
          </a>
        ) : (
          part
        ),
      )}
    </>
  )
}
