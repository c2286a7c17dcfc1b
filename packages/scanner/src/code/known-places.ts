import { regex, regexWith } from '../text/regex.ts'
import type { CodeFactKind } from './reading.ts'

/** A store of credentials. */
export interface SecretStore {
  /** Matches paths after {@link toPlainPath}. */
  readonly path: RegExp
  /** Hosts of the product, which may receive its credentials. */
  readonly hosts: RegExp | undefined
}

/** The hosts of products, which may receive their credentials. */
const hosts: Readonly<Record<string, RegExp>> = {
  AWS: /(?:^|\.)(?:amazonaws|aws)\./,
  'Google Cloud': /(?:^|\.)(?:googleapis|google)\.com/,
  Azure: /(?:^|\.)(?:microsoft|microsoftonline|azure|windows)\.(?:com|net)/,
  Docker: /(?:^|\.)docker\.(?:io|com)/,
  Git: /(?:^|\.)git(?:hub|lab)\./,
  GitHub: /(?:^|\.)github(?:copilot)?\.com/,
  npm: /(?:^|\.)(?:npmjs\.(?:com|org)|yarnpkg\.com)/,
  PyPI: /(?:^|\.)pypi\.org/,
  Cargo: /(?:^|\.)crates\.io/,
  RubyGems: /(?:^|\.)rubygems\.org/,
  Terraform: /terraform\.io/,
  'an agent': /(?:^|\.)(?:anthropic|claude|openai|chatgpt|googleapis|cursor)\.(?:com|ai|sh)/,
}

const stores: readonly (readonly [product: string, path: RegExp])[] = [
  [
    'SSH',
    regex`/\.ssh(/(?!known_hosts|config|authorized_keys|environment)(?![^/]*\.pub$)|$)|(^|/)id_(rsa|dsa|ecdsa|ed25519)$`,
  ],
  ['AWS', /\/\.aws(?:\/(?:credentials|config|sso\b.*|cli\/cache.*))?$/],
  [
    'Google Cloud',
    /gcloud\/(?:credentials|access_tokens|legacy_credentials|application_default_credentials)|\/application_default_credentials\.json$/,
  ],
  ['Azure', /\/\.azure(?:$|\/(?:accesstokens|msal_token|azureprofile|service_principal))/i],
  ['Kubernetes', /\/\.kube(?:\/config)?$|\/serviceaccount\/token$/],
  ['Docker', /\/\.docker\/config\.json$/],
  ['GnuPG', /\/\.gnupg(?:\/|$)/],
  ['Git', /\/\.git-credentials$|\/\.config\/git\/credentials$/],
  ['GitHub', /\/\.config\/(?:gh\/hosts\.yml|github-copilot\/(?:hosts|apps)\.json)$|\/\.config\/hub$/],
  ['netrc', /\/[._]netrc$/],
  ['npm', /^~\/\.(?:npmrc|yarnrc\.yml)$/],
  ['PyPI', /\/\.pypirc$/],
  ['Cargo', /\/\.cargo\/credentials/],
  ['RubyGems', /\/\.gem\/credentials$/],
  ['Terraform', /\/\.terraform\.d\/credentials/],
  ['Vault', /\/\.vault-token$/],
  ['databases', /\/\.(?:pgpass|my\.cnf|mongorc\.js)$/],
  ['the system', /^\/etc\/(?:g?shadow|sudoers|krb5\.keytab)$|windows\/system32\/config\/(?:sam|system|security)$/i],
  [
    'a keychain',
    /library\/keychains(?:\/|$)|login\.keychain|keychain-db$|\/(?:local\/share|\.gnome2?)\/keyrings?(?:\/|$)|\/kwalletd?\b/i,
  ],
  [
    'a browser',
    regexWith('i')`(^|/)(login data|login data for account|web data|cookies|local state|logins\.json|
      key[34]\.db|cookies\.sqlite|signons\.sqlite|cookies\.binarycookies)$|user data/(default|profile \d+)?$|
      /(google/chrome|google-chrome|chromium|bravesoftware/brave-browser|microsoft/edge|opera software/opera stable|
      vivaldi|\.mozilla/firefox|firefox/profiles)(/(user data|default|profiles?)[^]{0,80})?$`,
  ],
  [
    'a wallet',
    regexWith('i')`(^|/)wallet\.dat$|/\.(bitcoin|ethereum|electrum|monero|litecoin|dogecoin|exodus|atomic|zcash)(/|$)|
      /\.config/solana/id\.json$|ethereum/keystore|/(exodus|atomic|electrum|ledger live|coinomi|guarda|jaxx)(/|$)|
      nkbihfbeogaeaoehlefnkodbefgpgknn|bfnaelmomeimhlpmgjnjophhpkkoljpa|hnfanknocfeofbddgcijnmhnfnkdnaad|
      ejbalbakoplchlghecdalmeeeajnimhm|fhbohimaelbohpjbbldcngcnapndodjp|/(metamask|phantom)(/|$)`,
  ],
  [
    'a password manager',
    /\.kdbx$|\/(?:1password|bitwarden|lastpass|keepass(?:xc)?)(?:\/|$)|\/\.password-store(?:\/|$)/i,
  ],
  [
    'an agent',
    /\/\.claude\/\.?credentials(?:\.json)?$|\/\.codex\/auth\.json$|\/\.gemini\/oauth_creds\.json$|\/\.cursor\/auth\.json$/,
  ],
  [
    'a messenger',
    /\/(?:discord(?:canary|ptb)?\/local storage\/leveldb|telegram desktop\/tdata|signal\/config\.json|slack\/(?:storage|cookies|local storage))/i,
  ],
  [
    'the cloud provider',
    /^https?:\/\/(?:169\.254\.169\.254|metadata\.google\.internal|\[fd00:ec2::254\]|169\.254\.170\.2|100\.100\.100\.200)(?:[/:]|$)/,
  ],
]

/** Where programs store credentials. */
export const secretStores: readonly SecretStore[] = stores.map(([product, path]) => ({ path, hosts: hosts[product] }))
/** Most texts are no path of a store: one expression tells this faster than one for each store. */
const anyStore = new RegExp(stores.map(([, path]) => path.source).join('|'), 'i')

/** A file with the settings and secrets of a project, which the project's own programs may read. */
const ownSecrets = /(?:^|\/)\.env(?:\.(?:local|production|prod|development|staging))?$/

/** Finds the store of credentials that a path or address leads to. */
export function findSecretStore(path: string): SecretStore | undefined {
  const plain = toPlainPath(path)
  return anyStore.test(plain) ? secretStores.find((store) => store.path.test(plain)) : undefined
}

/** Names of variables with credentials. */
const secretVariable = regexWith('i')`(^|_)(api_?key|access_key(_id)?|secret(_key|_access_key)?|private_key|token|pat|
  passw(or)?d|passphrase|credentials?|mnemonic|seed_phrase|session_key|auth)(_\d+|_id|_b64|_base64)?$`

export const isSecretVariable = (name: string): boolean => secretVariable.test(name)

/** Files with personal data, which a program should read only if the user asks for it. */
const personal = regexWith('i')`/\.(bash|zsh|python|node_repl|mysql|psql|sqlite)_history$|/fish/fish_history$|
  consolehost_history\.txt$|/(google/chrome|google-chrome|chromium)/[^]{0,40}history$|places\.sqlite$|
  /library/messages/chat\.db$`

/** The kind of fact when a file is read: a store of secrets, the secrets of a project, or personal data. */
export function toReadKind(path: string): CodeFactKind | undefined {
  if (findSecretStore(path)) return 'secret-read'
  const plain = toPlainPath(path)
  if (ownSecrets.test(plain)) return 'environment-read'
  return personal.test(plain) ? 'data-collected' : undefined
}

const ownHeader =
  /^(?:authorization|proxy-authorization|x-[\w-]{0,20}(?:key|token)|[\w-]{0,20}(?:api-?key|token|auth)|cookie|private-token)$/i

/** Whether a header of a request identifies the caller to the server. */
export const isOwnHeader = (name: string): boolean => ownHeader.test(name)

const startup = regexWith('i')`^(~|/root)/\.(bashrc|zshrc|zshenv|zprofile|profile|bash_profile|bash_login|bash_logout|
  zlogin|xprofile|xinitrc|config/fish/(config\.fish|conf\.d/[^]{1,60})|ssh/(authorized_keys|rc)|pythonrc|vimrc|
  gitconfig)$|^/etc/(profile|bash\.bashrc|zshrc|zshenv|rc\.local|environment|crontab|ld\.so\.preload)$|
  ^/etc/(profile\.d|cron(tab|\.[a-z]{1,8})?|init\.d|systemd|update-motd\.d|sudoers\.d|pam\.d)/|^/var/spool/cron|
  library/launch(agents|daemons)/|/systemd/(user|system)/|/\.config/autostart/|/start menu/programs/startup/|
  (^|/)\.git/hooks/|/(site|dist)-packages/((site|user)customize\.py|[\w-]{1,60}\.pth)$|(^|/)(site|user)customize\.py$|
  ^(hk(cu|lm|ey_\w{1,30})/)?software/(wow6432node/)?microsoft/windows( nt)?/currentversion/(run|winlogon|policies/explorer/run)`

/** Whether a file or registry key is run at startup, at login, or by other programs. */
export const isStartupPlace = (path: string): boolean => startup.test(toPlainPath(path))

const agentFile = regexWith('i')`(^|/)(claude(\.local)?\.md|agents\.md|gemini\.md|\.cursorrules|\.windsurfrules|
  copilot-instructions\.md|soul\.md)$|/\.claude/(settings(\.local)?\.json|commands/|skills/|agents/|hooks/|
  plugins/)|/\.claude\.json$|(^|/)\.?mcp\.json$|claude_desktop_config\.json$|
  /\.(cursor|codeium/windsurf|windsurf)/(mcp|mcp_config|hooks)\.json$|/\.cursor/rules/|/\.codex/(config\.toml|agents\.md)|
  /\.gemini/settings\.json$|/\.openclaw/[^]{0,40}(openclaw\.json|memory|skills)`

/** Whether a file controls agents: their instructions, memory, settings, servers or skills. */
export const isAgentFile = (path: string): boolean => agentFile.test(toPlainPath(path))

const home = regexWith(
  'i',
)`^(\$\{?home\}?|%userprofile%|\$env:userprofile|/root|/home/[^/]{1,40}|/users/(?!shared)[^/]{1,40}|
  [a-z]:/users/[^/]{1,40})(?=/|$)`

/** A path with slashes, and `~` for the home folder of any user. */
export function toPlainPath(path: string): string {
  const plain = path.replace(/^file:\/\//, '').replaceAll(/[\\/]{1,4}/g, '/')
  return path.includes('://') && !path.startsWith('file:') ? path : plain.replace(home, '~')
}
