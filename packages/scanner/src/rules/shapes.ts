import { regex } from '../text/regex.ts'
/** A long list of short words. */
export const words = (text: string): string[] => text.trim().split(/\s+/)

/** The end of a command. */
export const commandStop = /\n|\uE000|\.\s/
/** The end of a line of code. */
export const lineStop = /\n|\uE000/
/** The end of a block of code without blank lines. */
export const blockStop = /\uE000/

/** Programs that fetch data from the network. */
export const fetcher = regex`(\b|(?<=\\n))(curl|wget2?|aria2c|fetch|iwr|irm|invoke-webrequest|
  invoke-restmethod|start-bitstransfer|lwp-request)\b`

/** Shells that run their input, at the end of a pipe. */
const shellPipe = regex`\|&?\s?(?=[\w./~"$])((sudo|doas|env|exec|time|nohup|xargs)\s
  (-\w{1,8}\s){0,2}|\w{1,20}=[\w"'./:$\{}-]{0,30}\s){0,2}["']?([\w.~-]{0,10}/){0,4}((ba|z|da|k|a|fi|c|tc)?sh|pwsh|
  powershell|iex|invoke-expression|source)\b(?![\w/=]|[.-]\w)`

/**
 * Interpreters at the end of a pipe, which run their input only without arguments: `python -m json.tool` reads data.
 */
const interpreterPipe = regex`\|\s?(?=[\w./~])(sudo\s)?([\w.~-]{0,10}/){0,4}(python[\d.]{0,5}|node|
  deno|bun|perl|ruby|php)\b(?=\s?($|[\n\uE000"'&;]|2?>|-(\s|$)))`

export const runPipe = regex`${shellPipe}|${interpreterPipe}`

/**
 * A public IPv4 address. Addresses for documentation (RFC 5737) count too, because authors use them in place of real
 * ones.
 */
export const publicIp = regex`(?!(127|10|0|255)\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|
  1\.1\.1\.1\b|1\.2\.3\.4\b|8\.8\.[84]\.[84]\b|22[4-9]\.|23\d\.)([1-9]|[1-9]\d|1\d\d|2[0-4]\d)
  (\.(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}(?![\w.]?\d)`

/** A host name or address of this machine or its local network. */
export const localHost = regex`(localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|host\.docker\.internal|
  [\w-]{1,40}\.(local|lan|internal|test|localhost|svc)\b|10\.\d|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.)`

/** Paste and drop sites, which receive stolen data: no vendor publishes a program there. */
export const dropHost = regex`((www\.)?pastebin\.com/(raw|api)|
  paste\.(ee|rs|debian\.net|sh|c-net\.org)|(www\.)?hastebin\.com|rentry\.(co|org)|ghostbin\.\w|privatebin\.net|
  termbin\.com|ix\.io|sprunge\.us|dpaste\.(com|org)|controlc\.com|justpaste\.it|pastes\.io|transfer\.sh|file\.io|
  0x0\.st|bashupload\.com|anonfiles?\.com|gofile\.io|temp\.sh|oshi\.at|filebin\.net|tmpfiles\.org|uguu\.se|
  cdn\.discordapp\.com/attachments)`

/** Request catchers: hosts that show their visitor every received request. */
export const catcherHost = regex`(webhook\.site|[\w-]{1,40}\.webhook\.site|([\w-]{1,40}\.)?requestbin\.
  (com|net|io)|[\w-]{1,40}\.(m\.)?pipedream\.net|[\w-]{1,40}\.(oast\.(pro|live|site|online|fun|me)|oastify\.com|
  interact\.sh|burpcollaborator\.net|dnslog\.cn|ceye\.io|requestcatcher\.com|beeceptor\.com|requestrepo\.com|
  hookb\.in|bxss\.me|xss\.ht|(?<!docs\.|www\.)canarytokens\.com)|(www\.)?hookbin\.com|requestrepo\.com|
  webhookinbox\.com|postb\.in|ptsv[23]\.com|dnslog\.cn)`

/** Tunnels to a machine without a public address. */
export const tunnelHost = regex`[\w-]{2,40}\.(ngrok(-free)?\.(io|app|dev)|trycloudflare\.com|
  serveo\.net|localhost\.run|lhr\.life|loca\.lt|localtunnel\.me|pagekite\.me|bore\.pub|telebit\.io|tunnelmole\.net|
  pinggy\.(link|online)|playit\.gg)`

export const shortener = regex`(www\.)?(bit\.ly|tinyurl\.com|is\.gd|v\.gd|cutt\.ly|rb\.gy|shorturl\.at
  |t\.ly|ow\.ly|goo\.gl|tiny\.cc|bl\.ink|clck\.ru|s\.id|short\.gy)/\w`

/** Hosts that do not identify the author of a program. */
export const untrustedHost = regex`${publicIp}|${dropHost}|${catcherHost}|${tunnelHost}|${shortener}|
  [\w.-]{1,40}\.onion\b`

/** Files that hold private keys or stored credentials. */
export const keyFile = regex`\.ssh\b(?!-|[/\\]([\w.-]{0,40}\.pub\b|config\b|known_hosts\b|
  authorized_keys\b))|\bid_(rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|["'/]id_\*["'\s]|~/\.\{[\w,]{0,30}\b(ssh|aws|gnupg|kube)\b|
  \.aws[/\\]credentials\b|\.git-credentials\b|\.netrc\b|\.pypirc\b|\.gnupg\b|\.kube[/\\]config\b|
  \.docker[/\\]config\.json\b|/etc/(g?shadow|sudoers)\b|\blogin\.keychain\b|\bkeychain-db\b|
  \.azure[/\\](credentials|accesstokens|azureprofile|msal_token)|\bgcloud[/\\](credentials|access_tokens|
  application_default_credentials|legacy_credentials)|\bapplication_default_credentials\.json\b|\.config[/\\]gh[/\\]
  hosts\.yml\b|[~/]\.npmrc\b|\.vault-token\b|\.terraform\.d[/\\]credentials|\.cargo[/\\]credentials|
  \.claude[/\\]\.?credentials|\.codex[/\\]auth\.json|\.anthropic[/\\]\w|\.pgpass\b|\.my\.cnf\b|\bwallet\.dat\b|
  \.config[/\\]solana[/\\]id\.json|\.ethereum[/\\]keystore|(local/share|\.gnome2?)[/\\]keyrings?\b|\.kdbx\b|
  \.mozilla[/\\]firefox|\blogins\.json\b|\bkey[34]\.db\b|\bcookies\.sqlite\b|\blogin data\b(?=["'/\\]|$)|
  user data[/\\]default[/\\]|google[/\\]chrome[/\\](user data[/\\])?default|google-chrome[/\\]default`

export const environmentFile = regex`(?<![\w)\]|^\\])\.env(\.(local|production|prod|development|staging))?\b
  (?![\w-]|\.\w)`

/** Anchors: every match of `keyFile` contains one. */
export const keyFileAnchors = [
  ...words(`
    ~/.{ .ssh id_rsa id_dsa id_ecdsa id_ed25519 id_* .aws .git-credentials .netrc .pypirc .gnupg .kube .docker /etc/ keychain
    .azure gcloud application_default .config .npmrc .vault .terraform .cargo .claude .codex .anthropic .pgpass
    .my.cnf wallet.dat .ethereum keyring .kdbx .mozilla logins.json key3.db key4.db cookies.sqlite google
  `),
  'login data',
  'user data',
]
