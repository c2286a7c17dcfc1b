import { splitArguments } from './shell-options.ts'
import type { Program } from './shell-programs.ts'
import { fetched } from './shell-network.ts'
import { dependOn, unknown } from './shell-value.ts'

interface PackageManager {
  /** The words before the names of packages. */
  readonly install: RegExp
  /** Options with a value, and those whose value is another source of packages. */
  readonly taking: string
  readonly sources?: RegExp
}

const python: PackageManager = {
  install: /^(?:pip )?install$|^(?:add|tool install|tool run)$/,
  taking: '-r -i --index-url --extra-index-url -f --find-links -t --target -c --python --from --with',
  sources: /^(?:-i|--index-url|--extra-index-url|-f|--find-links|--from)$/,
}
const javascript: PackageManager = {
  install: /^(?:install|i|add|ci|dlx|exec|global add)$/,
  taking: '--registry --prefix --cache -C --dir --filter -w --workspace -p --package',
  sources: /^(?:--registry)$/,
}

const managers: Readonly<Record<string, PackageManager>> = {
  pip: python,
  pip3: python,
  pipx: { ...python, install: /^(?:install|run)$/ },
  uv: python,
  npm: javascript,
  pnpm: javascript,
  yarn: javascript,
  bun: javascript,
  gem: { install: /^install$/, taking: '-v --version -s --source', sources: /^(?:-s|--source)$/ },
  cargo: {
    install: /^install$/,
    taking: '--git --branch --tag --rev --version --path --registry --index --root',
    sources: /^--(?:git|registry|index)$/,
  },
  go: { install: /^(?:install|get|run)$/, taking: '-o' },
  brew: { install: /^(?:install|tap)$/, taking: '' },
}

/** Records installed packages that do not come from the usual registry by name. */
const install =
  (manager: PackageManager, isInstall = false): Program =>
  (call) => {
    const { run, args, input } = call
    const split = splitArguments(args, manager.taking)
    const words = split.rest.map(({ text }) => text)
    const at = isInstall ? 0 : [1, 2].find((count) => manager.install.test(words.slice(0, count).join(' ')))
    if (at === undefined) return dependOn([input])
    for (const { name, value } of split.options) {
      if (!manager.sources?.test(name)) continue
      run.fact('package-install', value.text)
    }
    const packages = isInstall && call.program !== 'pip' ? split.rest.slice(0, 1) : split.rest.slice(at)
    for (const { text, facts } of packages) {
      if (!/^(?:\.|\/|~|-)/.test(text) || facts.length > 0)
        run.sink('package-install', text, [{ text, facts, made: [] }])
    }
    return unknown
  }

/** `npx`, `uvx` and others install and run in one step. */
const runPackage: Program = (call) =>
  install(
    { install: /^/, taking: '-p --package --registry --from --with -c', sources: /^--(?:registry|from)$/ },
    true,
  )(call)

export const packages: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(Object.entries(managers).map(([name, manager]) => [name, install(manager)])),
  npx: runPackage,
  pnpx: runPackage,
  bunx: runPackage,
  uvx: runPackage,
  'add-apt-repository': (call) => fetched(call, call.args.at(-1) ?? unknown),
}
