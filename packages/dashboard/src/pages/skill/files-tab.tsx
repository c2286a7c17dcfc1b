import { api, useData } from '../../api.ts'
import { useAddress } from '../../addresses.ts'
import { Pager, toPageNumber, Shown } from '../../ui/page.tsx'
import { Empty, toBytesText, NameLink, toCount } from '../../ui/parts.tsx'
import { toApiAddress, toContentBytes, toFileAddress, toTab, decodeShownText, type ShownSkill } from './shown-skill.ts'
import { TextPages } from './text-pages.tsx'

const pageRows = 50
/** Maximum size of a file that is shown; larger files can only be downloaded. */
const shownBytesMax = 2 * 1024 * 1024

/** The files of a version, or the text of the file in the address. */
export function FilesTab({ shown }: { shown: ShownSkill }) {
  const { fields } = useAddress()
  if (!shown.version) return <Empty>There is no version, so there are no files.</Empty>
  if (fields.path === undefined) return <FileList shown={shown} page={toPageNumber(fields.page)} />
  return <OneFile shown={shown} path={fields.path} line={toLineNumber(fields.line)} />
}

function toLineNumber(text: string | undefined): number | undefined {
  const line = Number(text)
  return Number.isInteger(line) && line > 0 ? line : undefined
}

function FileList({ shown, page }: { shown: ShownSkill; page: number }) {
  const { files, size } = shown.skill
  const totalPages = Math.ceil(files.length / pageRows)
  const first = (Math.min(page, totalPages) - 1) * pageRows
  return (
    <>
      <p>
        {toCount(files.length, 'file')}, {toBytesText(size)} in all.{' '}
        <a href={toApiAddress(shown, 'archive')} download>
          Download all as a zip
        </a>
      </p>
      <table class="files">
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Size</th>
          </tr>
        </thead>
        <tbody>
          {files.slice(first, first + pageRows).map((file) => (
            <tr key={file.path}>
              <td>
                <NameLink href={toTab(shown, 'files', { path: file.path })} name={file.path} />
              </td>
              <td>{toBytesText(file.size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Pager totalPages={totalPages} />
    </>
  )
}

function OneFile({ shown, path, line }: { shown: ShownSkill; path: string; line: number | undefined }) {
  const file = shown.skill.files.find((one) => one.path === path)
  return (
    <>
      <p class="row">
        <a href={toTab(shown, 'files')}>All files</a>
        {file && (
          <a href={toFileAddress(shown, path)} download={path.split('/').at(-1)}>
            Download
          </a>
        )}
      </p>
      <h2>
        <bdi>{path}</bdi>
      </h2>
      {!file && <Empty>Version {shown.version} has no such file.</Empty>}
      {file && file.size > shownBytesMax && (
        <Empty>This file has {toBytesText(file.size)}, which is too large to show here. Download it instead.</Empty>
      )}
      {file && file.size <= shownBytesMax && <FileText shown={shown} path={path} line={line} />}
    </>
  )
}

function FileText({ shown, path, line }: { shown: ShownSkill; path: string; line: number | undefined }) {
  const text = useFileText(shown, path)
  return (
    <Shown of={text}>
      {(found) =>
        found === null ? (
          <Empty>This is not a text file. Download it to read it.</Empty>
        ) : (
          <TextPages text={found} label={path} lineAsked={line} />
        )
      }
    </Shown>
  )
}

/** The text of a file; null for a binary file. */
export function useFileText({ name, version }: ShownSkill, path: string, enabled = true) {
  const load = async () => decodeShownText(toContentBytes(await api.getFile({ name, path, version })))
  return useData(['skill', name, 'file', version, path], load, enabled)
}
