import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  Application,
  Converter,
  ReflectionKind,
  type Context,
  type DeclarationReflection,
  type ProjectReflection,
} from 'typedoc'

const root = join(import.meta.dirname, '../..')
const out = join(root, 'dist/api')

// The API reference of all public entry points, made from their docstrings; with `--check` only the names that have none.

/** The source of each public entry point, with the name that programs import. */
function listEntries(): Map<string, string> {
  const entries = new Map<string, string>()
  for (const folder of readdirSync(join(root, 'packages'))) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as {
      name: string
      exports?: Record<string, { source?: string }>
    }
    for (const [path, { source }] of Object.entries(exports)) {
      if (source === undefined || path.startsWith('./internal')) continue
      entries.set(join(root, 'packages', folder, source), join(name, path))
    }
  }
  return entries
}

/** The exported names, and the methods of their interfaces and classes, that have no docstring. */
function findUndocumented(project: ProjectReflection): string[] {
  const modules = project.getReflectionsByKind(ReflectionKind.Module) as DeclarationReflection[]
  const names = modules.flatMap(({ children = [] }) => children)
  const methods = names.flatMap(({ children = [] }) => children.filter(({ kind }) => kind === ReflectionKind.Method))
  return [...names, ...methods]
    .filter((each) => !isDocumented(each))
    .map((each) => `${each.parent?.getFullName()}: ${each.name}`)
}

function isDocumented({ kind, comment, signatures = [] }: DeclarationReflection): boolean {
  // An entry point exports what another one documents.
  if (kind === ReflectionKind.Reference) return true
  return [comment, ...signatures.map((signature) => signature.comment)].some((each) => each !== undefined)
}

const entries = listEntries()
const app = await Application.bootstrap({
  name: 'Skillstead',
  entryPoints: [...entries.keys()],
  tsconfig: join(root, 'tsconfig.json'),
  // `pnpm check` finds the errors, with the newer compiler.
  skipErrorChecking: true,
  readme: 'none',
  excludeExternals: true,
  // Schemas and the types of their values share places in the source, which is a warning for each field.
  logLevel: 'Error',
})
app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context: Context, reflection: DeclarationReflection) => {
  if (reflection.kind !== ReflectionKind.Module) return
  const [declaration] = context.getSymbolFromReflection(reflection)?.declarations ?? []
  reflection.name = entries.get(declaration?.getSourceFile().fileName ?? '') ?? reflection.name
})

const project = await app.convert()
if (!project) process.exit(1)
if (process.argv.includes('--check')) {
  for (const name of findUndocumented(project)) console.log(name)
} else {
  await app.generateDocs(project, out)
  console.log(`Wrote ${join(out, 'index.html')}.`)
}
if (app.logger.hasErrors()) process.exitCode = 1
