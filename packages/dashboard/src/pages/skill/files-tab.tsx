import { api, useData } from '../../api.ts'
import { useAddress } from '../../addresses.ts'
import { findFragmentLine } from '../../ui/anchors.ts'
import { Download, Picture } from '../../ui/own-files.tsx'
import { Shown } from '../../ui/page.tsx'
import { Badge, Empty, toBytesText, toCount } from '../../ui/parts.tsx'
import {
  isPicture,
  toApiAddress,
  toContentBytes,
  toFileAddress,
  toShortName,
  toTab,
  decodeShownText,
  type ShownSkill,
} from './shown-skill.ts'
import { TextPages } from './text-pages.tsx'

const openEntriesMax = 20
/** Maximum size of a file that is shown; larger files can only be downloaded. */
const shownBytesMax = 2 * 1024 * 1024

/** The files of a version as a tree, next to the text of the file that the address names. */
export function FilesTab({ shown }: { shown: ShownSkill }) {
  const { fields } = useAddress()
  if (!shown.version) return <Empty>There is no version, so there are no files.</Empty>
  const { files, size } = shown.skill
  const path = fields.path ?? 'SKILL.md'
  return (
    <>
      <p>
        {toCount(files.length, 'file')}, {toBytesText(size)} in all.{' '}
        <Download path={toApiAddress(shown, 'archive')} name={`${toShortName(shown.skill)}-${shown.version}.zip`}>
          Download all as a zip
        </Download>
      </p>
      <div class="files">
        <nav aria-label="Files">
          <Folder shown={shown} entries={toTree(files)} current={path} />
        </nav>
        <OneFile key={path} shown={shown} path={path} line={Number(fields.line) || undefined} />
      </div>
    </>
  )
}

type File = ShownSkill['skill']['files'][number]
type Tree = Map<string, File | Tree>

/** The tree of the folders and files, by name. */
function toTree(files: readonly File[]): Tree {
  const root: Tree = new Map()
  for (const file of files) {
    const parts = file.path.split('/')
    const name = parts.pop()!
    let folder = root
    for (const part of parts) {
      const inner = folder.get(part)
      const next: Tree = inner instanceof Map ? inner : new Map()
      folder.set(part, next)
      folder = next
    }
    folder.set(name, file)
  }
  return root
}

/** The entries of a folder. A folder among them is open if it has few entries or contains the current file. */
function Folder(props: { shown: ShownSkill; entries: Tree; current: string; path?: string }) {
  const { shown, entries, current, path = '' } = props
  const sorted = [...entries].toSorted(
    ([a, one], [b, other]) => Number(other instanceof Map) - Number(one instanceof Map) || (a < b ? -1 : 1),
  )
  return (
    <ul>
      {sorted.map(([name, entry]) => (
        <li key={name}>
          {entry instanceof Map ? (
            <details open={entry.size <= openEntriesMax || current.startsWith(`${path}${name}/`)}>
              <summary>
                <bdi>{name}</bdi>
              </summary>
              <Folder shown={shown} entries={entry} current={current} path={`${path}${name}/`} />
            </details>
          ) : (
            <a
              href={toTab(shown, 'files', { path: entry.path })}
              aria-current={entry.path === current ? 'page' : undefined}
              aria-label={entry.executable ? `${entry.path} run` : entry.path}
              title={toBytesText(entry.size)}
            >
              <bdi>{name}</bdi>
              {entry.executable && <span class="faint"> run</span>}
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

function OneFile({ shown, path, line }: { shown: ShownSkill; path: string; line: number | undefined }) {
  const file = shown.skill.files.find((one) => one.path === path)
  return (
    <section>
      <div class="file-head">
        <h2>
          <bdi>{path}</bdi>
        </h2>
        {file && <span class="faint">{toBytesText(file.size)}</span>}
        {file?.executable && <Badge>executable</Badge>}
        {file && (
          <Download path={toFileAddress(shown, path)} name={path.slice(path.lastIndexOf('/') + 1)}>
            Download
          </Download>
        )}
      </div>
      {!file && <Empty>Version {shown.version} has no such file.</Empty>}
      {file && file.size > shownBytesMax && (
        <Empty>This file has {toBytesText(file.size)}, which is too large to show here. Download it instead.</Empty>
      )}
      {file && file.size <= shownBytesMax && <FileText shown={shown} path={path} line={line} />}
    </section>
  )
}

function FileText({ shown, path, line }: { shown: ShownSkill; path: string; line: number | undefined }) {
  const isPictured = isPicture(path)
  const text = useFileText(shown, path, !isPictured)
  const { fragment } = useAddress().fields
  const toLineAsked = (found: string) => line ?? (fragment ? findFragmentLine(found, fragment) : undefined)
  if (isPictured) return <Picture class="picture" path={toFileAddress(shown, path)} alt={path} />
  return (
    <Shown of={text}>
      {(found) =>
        found === null ? (
          <Empty>This is not a text file. Download it to read it.</Empty>
        ) : (
          <TextPages text={found} path={path} shown={shown} lineAsked={toLineAsked(found)} />
        )
      }
    </Shown>
  )
}

/** The text of a file; null for a binary file. */
export function useFileText({ name, version }: ShownSkill, path: string, enabled = true) {
  const load = async () =>
    decodeShownText(toContentBytes(await api.getFile({ name, path, version, allowRecalled: true })))
  return useData(['skill', name, 'file', version, path], load, enabled)
}
