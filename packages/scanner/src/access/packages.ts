import type { AccessLists } from './access-lists.ts'

/** A command of a package manager. */
interface Manager {
  readonly registry: string
  /** Words after the program and before the packages, in order; options may be between them. */
  readonly words: readonly string[]
  /** Whether only the first argument after `words` is a package, and the later ones are arguments of its program. */
  readonly isOne: boolean
}

/** By registry: `many` has commands that install all packages in their arguments, `one` those that take one. */
const many: Readonly<Record<string, string>> = {
  npm: 'npm install, npm i, npm add, npm ci, pnpm add, pnpm install, pnpm i, yarn global add, yarn add, bun add, bun install, bun i',
  pypi: `pip install, pip3 install, python -m pip install, python3 -m pip install, pipx install, uv pip install, uv tool install,
    uv add, poetry add`,
  conda: 'conda install, mamba install',
  brew: 'brew install, brew reinstall, brew tap',
  apt: 'apt install, apt-get install',
  rpm: 'dnf install, yum install',
  apk: 'apk add',
  pacman: 'pacman -S, pacman -Sy, pacman -Syu',
  choco: 'choco install',
  scoop: 'scoop install',
  winget: 'winget install',
  cargo: 'cargo install, cargo add, cargo binstall',
  gem: 'gem install, bundle add',
  go: 'go install, go get',
  nuget: 'dotnet tool install, dotnet add package',
  composer: 'composer require',
  clawhub: 'clawhub install',
}
const one: Readonly<Record<string, string>> = {
  npm: 'npm exec, npm x, npm create, pnpm dlx, pnpm create, yarn dlx, yarn create, bun x, bun create, npx, bunx',
  pypi: 'pipx run, uv tool run, uvx',
  go: 'go run',
  docker: 'docker run, docker pull, podman run, podman pull',
}
const managers = Map.groupBy(
  [many, one].flatMap((commands) =>
    Object.entries(commands).flatMap(([registry, lines]) =>
      lines.split(/,\s+/).map((line): Manager & { readonly program: string } => {
        const [program, ...words] = line.split(' ')
        return { program: program!, registry, words, isOne: commands === one }
      }),
    ),
  ),
  ({ program }) => program,
)

/** Finds the packages that a command installs or runs. */
export function readInstall(program: string, args: readonly string[], lists: AccessLists): void {
  for (const manager of managers.get(program) ?? []) {
    const after = skipWords(args, manager.words)
    if (after === undefined) continue
    readPackages(manager, args.slice(after), lists)
    return
  }
}

/** The index of the argument at which the packages begin; undefined if the command has other words. */
function skipWords(args: readonly string[], words: readonly string[]): number | undefined {
  let at = 0
  for (const word of words) {
    while (args[at] !== undefined && args[at] !== word && args[at]!.startsWith('-') && !word.startsWith('-')) at++
    if (args[at] !== word) return undefined
    at++
  }
  return at
}

/** Options whose argument is a package, and options whose argument is something else. */
const packageOptions: ReadonlySet<string> = new Set(['-p', '--package', '--with', '--from', '--spec'])
const otherOptions: ReadonlySet<string> = new Set(
  `-r -c -e -i -t -v -w -u -n -f --requirement --constraint --index-url --extra-index-url --target --prefix --registry --filter
  --name --version --git --python --features --channel --volume --env --network --platform --entrypoint --mount --workdir --user
  --publish --branch --tag`.split(/\s+/),
)

function readPackages({ registry, isOne }: Manager, args: readonly string[], lists: AccessLists): void {
  let isNamed = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    const [option = '', value] = arg.startsWith('-') ? arg.split('=', 2) : []
    if (packageOptions.has(option) && !(registry === 'docker')) {
      isNamed = addPackage(lists, registry, value ?? args[++at] ?? '') || isNamed
    } else if (otherOptions.has(option) || (registry === 'docker' && option === '-p')) at += value === undefined ? 1 : 0
    else if (option !== '') continue
    else {
      // If an option names the package, the first word is a program of this package.
      if (!(isOne && isNamed)) addPackage(lists, registry, arg)
      if (isOne) return
    }
  }
}

const names: Readonly<Record<string, RegExp>> = {
  npm: /^(@[a-z0-9][\w.-]{0,80}\/[a-z0-9][\w.-]{0,80}|[a-z0-9][\w.-]{0,80})(?:@[\w.^~*<>=|-]{0,40})?$/i,
  pypi: /^([a-z0-9](?:[\w.-]{0,80}[a-z0-9])?)(?:\[[\w, -]{0,80}\])?(?:@[\w.]{1,40})?(?:\s{0,3}(?:[=<>!~;@].*)?)?$/is,
  go: /^([a-z0-9][\w.-]{0,60}\.[a-z]{2,10}(?:\/[\w.~-]{1,80}){1,8})(?:@[\w.+-]{1,60})?$/i,
  docker: /^((?:[\w.-]{1,60}(?::\d{1,5})?\/){0,4}[a-z0-9][\w.-]{0,80})(?::[\w.-]{1,60})?(?:@sha256:[0-9a-f]{64})?$/,
  brew: /^((?:[\w.-]{1,60}\/){0,2}[a-z0-9][\w.+-]{0,60}(?:@[\d.]{1,10})?)$/i,
  other: /^((?:[\w.-]{1,60}\/){0,1}[a-z0-9@][\w.+-]{0,80}?)(?:[=@][\w.^~*+-]{1,40})?$/i,
}
/** Words of a sentence that continues after a command. Names that could be registered as a package are not included. */
const noPackage = /^(?:and|or|if|for|to|with|from|via|then|package-?name)$/i

/** Adds a package if its name is valid. Returns whether the name is valid. */
export function addPackage(lists: AccessLists, registry: string, text: string): boolean {
  const name = (names[registry] ?? names.other!).exec(text)?.[1]
  if (name === undefined || noPackage.test(name) || localFile.test(name)) return false
  // PyPI names that differ only in case or separators are the same (PEP 503).
  const id = registry === 'pypi' ? name.toLowerCase().replace(/[-_.]+/g, '-') : name
  lists.add('packages', `${registry}:${id}`)
  return true
}

const localFile = /^\.|\.(?:whl|tgz|gz|zip|deb|rpm|txt|gem)$/i
