import { argument, deletesFolder, readFile, returnsFirst, setsMode, writeFile } from './effects.ts'
import { fill, type EffectTable } from './effect-table.ts'
import type { Effect } from './library.ts'
import { joinPath } from './text-methods.ts'
import { mix, nothing, textOf, toText } from './values.ts'

const open: Effect = (call, on) => {
  const path = argument(call, [0, 'file'])
  const mode = textOf(argument(call, [1, 'mode']))
  return /[wax+]/.test(mode) && path ? { ...nothing, path: 'written', self: path } : readFile(path, call, on)
}

/** Files of a folder: the user's, if it is the home folder or a part of it. */
const listFiles: Effect = (call, on) => {
  const path = call.self?.text === undefined ? call.args[0] : joinPath([call.self, ...call.args])
  const text = textOf(path)
  if (!/^~\/?(?:\*|$)|^~\/(?:documents|desktop|downloads|pictures)(?:\/|$)|^\/(?:home|users)?\/?(?:\*|$)/i.test(text)) {
    return path ? readFile(path, call, on) : undefined
  }
  return { ...nothing, facts: [on.record('data-collected', call.code, text)] }
}

/** An archive, in a file or a buffer. */
const archive: Effect = (call) => ({
  ...nothing,
  path: 'archive',
  self: argument(call, ['fileobj', 0, 'name', 'file']) ?? nothing,
})

/** Adds a file or a text to an archive. */
const addToArchive: Effect = (call, on) => {
  const to = call.self?.self
  const content = mix([...call.args.slice(1), ...(call.args[0] ? [readFile(call.args[0], call, on)] : [])])
  if (to && content.facts.length > 0) {
    const before = on.files.get(to.text ?? to)
    on.putFile(to.text ?? to, before ? mix([before, content]) : content, call.scope)
  }
  return nothing
}

const fromBuffer: Effect = ({ self }, on) => {
  const content = self && on.files.get(self)
  return content && mix([self, content])
}

/** Packs a folder into the file of a name. */
const makeArchive: Effect = (call, on) => {
  const name = call.args[0]
  const folder = argument(call, [2, 'root_dir', 'base_dir'])
  if (!name || !folder) return undefined
  const path = toText(`${textOf(name)}.${textOf(call.args[1])}`)
  const content = listFiles({ ...call, args: [folder], self: undefined }, on)
  if (content) writeFile(path, content, call, on)
  return path
}

/** A file opened for writing. */
const write: Effect = (call, on) => {
  const file = call.self
  if (file?.path !== 'written' && call.args.length === 0) return undefined
  writeFile(file?.path === 'written' ? file.self : undefined, call.args[0], call, on)
  return undefined
}

/** What the functions of Python do with files and paths. */
export const pythonFiles: EffectTable = [
  ...fill('open io.open codecs.open builtins.open aiofiles.open', open),
  ...fill('written.write written.writelines', write),
  ...fill('zipfile.ZipFile tarfile.open tarfile.TarFile', archive),
  ...fill('archive.write archive.add archive.writestr archive.addfile', addToArchive),
  ['shutil.make_archive', makeArchive],
  ...fill('io.BytesIO().getvalue io.BytesIO().read io.BytesIO().getbuffer', fromBuffer),
  ...fill('shutil.copy shutil.copyfile shutil.copy2 shutil.move os.rename os.replace', (call, on) => {
    const [from, to] = call.args
    if (from && to) {
      const content = readFile(from, call, on)
      writeFile(to, content, call, on)
    }
    return nothing
  }),
  ...fill('os.path.join posixpath.join ntpath.join pathlib.Path pathlib.PurePath pathlib.PosixPath', ({ args }) =>
    joinPath(args),
  ),
  ...fill(
    'os.path.expanduser os.path.abspath os.path.realpath os.path.normpath os.fspath os.fsencode str builtins.str compile builtins.compile',
    returnsFirst,
  ),
  ...fill(
    'os.path.expandvars',
    ({ args: [path] }) =>
      path && { ...path, ...(path.text !== undefined && { text: path.text.replace(/^\$\{?HOME\}?/, '~') }) },
  ),
  ...fill('pathlib.Path.home', () => toText('~')),
  ...fill('tempfile.gettempdir', () => toText('/tmp')),
  ...fill('tempfile.NamedTemporaryFile', () => ({ ...nothing, path: 'written', self: { ...nothing } })),
  ['shutil.rmtree', deletesFolder],
  ['os.chmod', setsMode],
  ...fill('os.walk os.listdir os.scandir glob.glob glob.iglob', listFiles),
]

/** The same for methods of unknown objects. */
export const pythonFileMethods: EffectTable = [
  ...fill('read_text read_bytes', (call, on) => readFile(call.self, call, on)),
  ...fill('write_text write_bytes', (call, on) => writeFile(call.self, call.args[0], call, on)),
  ...fill('open', (call, on) =>
    call.self?.text === undefined ? undefined : open({ ...call, args: [call.self, ...call.args] }, on),
  ),
  ...fill('write writelines', write),
  ...fill('rglob glob iterdir', listFiles),
]
