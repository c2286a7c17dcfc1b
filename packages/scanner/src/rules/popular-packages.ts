import { words } from './words.ts'

/** Packages whose names are worth imitating, of npm and PyPI: those that people install most. */
const popular: ReadonlySet<string> = new Set(
  words(`
    accelerate accepts acorn acorn-jsx acorn-walk agent-base aiobotocore aiohappyeyeballs aiohttp aiosignal
    alembic angular annotated-doc annotated-types ansi-escapes ansi-regex ansi-styles ansible anthropic anyio
    anymatch apollo-server archiver argparse aria-query async async-timeout asynckit attrs autoprefixer aws-sdk
    awscli axios axios-retry azure-core azure-identity babel-loader balanced-match base64-js
    baseline-browser-mapping bcrypt beautifulsoup4 bignumber.js black blinker bluebird body-parser bootstrap boto3
    botocore boxen brace-expansion braces browserify browserslist buffer bytes cachetools call-bind
    call-bind-apply-helpers call-bound callsites camelcase caniuse-lite celery certifi chalk chardet
    charset-normalizer chart.js cheerio chokidar chownr ci-info cli-cursor click cliui color-convert color-name
    colorama colors combined-stream commander concat-map concurrently content-disposition contourpy
    convert-source-map cookie cookie-parser cookie-signature core-util-is cosmiconfig coverage cross-env
    cross-fetch cross-spawn crypto-js cryptography css-loader csstype cycler cypress databricks-sql-connector
    datasets date-fns dayjs debug decorator deep-is defusedxml delayed-stream deprecated detect-libc discord.js
    discord.py distlib distro django dnspython docker docstring-parser doctrine docutils dotenv dunder-proto
    eastasianwidth editables elasticsearch electron electron-to-chromium email-validator emoji-regex encodeurl
    enhanced-resolve entities es-define-property es-errors es-object-atoms es-set-tostringtag esbuild escalade
    escape-string-regexp eslint eslint-scope eslint-visitor-keys espree esprima esquery esrecurse estraverse
    estree-walker esutils et-xmlfile ethers eventemitter3 exceptiongroup execa express express-session fabric
    fast-deep-equal fast-glob fast-json-stable-stringify fast-levenshtein fastapi fastify fastq figlet
    file-entry-cache filelock fill-range finalhandler find-up firebase flake8 flask flask-cors flat-cache flatted
    follow-redirects fonttools foreground-child form-data framer-motion fresh frozenlist fs-extra fsspec
    function-bind gatsby gensim gensync get-caller-file get-intrinsic get-proto get-stream gitdb gitpython
    glob-parent globals globby google-api-core google-api-python-client google-auth google-cloud-core
    google-cloud-storage google-crc32c google-genai google-resumable-media googleapis-common-protos graceful-fs
    gradio graphql greenlet grpcio grpcio-status grpcio-tools gunicorn handlebars hardhat has-flag has-symbols
    has-tostringtag hasown hatchling helmet hf-xet hosted-git-info http-errors http-proxy-agent httpcore
    https-proxy-agent httptools httpx httpx-sse huggingface-hub human-signals husky iconv-lite ieee754 ignore
    immer import-fresh importlib-metadata imurmurhash indent-string inherits iniconfig inquirer ioredis ipaddr.js
    ipython is-arrayish is-core-module is-docker is-extglob is-fullwidth-code-point is-glob is-number is-plain-obj
    is-stream is-wsl isarray isexe isodate isort istanbul-lib-instrument itsdangerous jackspeak jaraco-classes
    jaraco-context jaraco-functools jeepney jellyfish jest-message-util jest-util jest-worker jinja2 jiter
    jmespath joblib jquery js-tokens js-yaml jsdom jsesc json-buffer json-parse-even-better-errors
    json-schema-traverse json5 jsonfile jsonpointer jsonschema jsonschema-specifications jsonwebtoken jupyter
    jupyterlab kafka-python keras keyring kind-of kiwisolver kubernetes langchain lerna lightgbm
    lightningcss-linux-x64-musl lines-and-columns lint-staged litellm locate-path lodash loguru lru-cache
    lucide-react magic-string make-dir markdown markdown-it-py marked markupsafe math-intrinsics matplotlib mdurl
    media-typer merge-stream merge2 micromatch mime-db mime-types mimic-fn minimatch minimist minipass mkdirp
    mocha moment mongodb mongoose more-itertools morgan moviepy msgpack multer multidict multiprocess
    mypy-extensions mysql2 mysqlclient nanoid natural-compare negotiator netlify-cli networkx node-fetch
    node-releases node-sass nodeenv nodemailer nodemon normalize-path notebook npm-run-path numpy oauthlib
    object-assign object-inspect on-finished onetime openai opencv-python openpyxl opentelemetry-api
    opentelemetry-exporter-otlp-proto-common opentelemetry-exporter-otlp-proto-grpc
    opentelemetry-exporter-otlp-proto-http opentelemetry-instrumentation opentelemetry-proto opentelemetry-sdk
    opentelemetry-semantic-conventions optionator orjson p-limit p-locate packaging pandas papaparse paramiko
    parcel parent-module parse-json parse5 passlib passport path-exists path-key path-parse path-scurry
    path-to-regexp path-type pathspec pdf-lib pdfkit pexpect picocolors picomatch pillow pkg-dir platformdirs
    playwright plotly pluggy poetry poetry-core polars postcss postcss-selector-parser prelude-ls prettier
    pretty-format prisma prompt-toolkit propcache proto-plus protobuf proxy-from-env psutil psycopg2
    psycopg2-binary ptyprocess punycode puppeteer pyarrow pyasn1 pyasn1-modules pycparser pycryptodome pydantic
    pydantic-ai-slim pydantic-core pydantic-settings pydub pygments pyinstaller pyjwt pylint pymongo pymysql
    pynacl pyopenssl pyparsing pypdf pypdf2 pytesseract pytest pytest-asyncio pytest-cov pytest-json-ctrf
    python-dateutil python-discovery python-docx python-dotenv python-multipart python-telegram-bot pytorch pyyaml
    queue-microtask range-parser raw-body react react-dom react-is react-native react-redux react-router
    react-router-dom readable-stream readdirp recharts redis redux referencing regex reportlab request
    request-promise requests requests-oauthlib requests-toolbelt require-directory require-from-string resolve
    resolve-from restore-cursor retry reusify rimraf rollup rpds-py ruamel-yaml run-parallel s3transfer
    safe-buffer safer-buffer scheduler schema-utils scikit-learn scipy scrapy seaborn secretstorage selenium
    semver sentence-transformers sequelize serve-static serverless setprototypeof setuptools sglang sharp
    shebang-command shebang-regex shellingham shelljs side-channel side-channel-list side-channel-map
    side-channel-weakmap signal-exit simplejson sinon slack-sdk slash slice-ansi smmap sniffio
    snowflake-connector-python socket.io solana sortedcontainers soupsieve source-map source-map-js
    source-map-support spacy sprintf-js sqlalchemy sqlite3 sqlmodel sse-starlette starlette statsmodels statuses
    storybook streamlit string-width string_decoder strip-ansi strip-bom strip-final-newline strip-json-comments
    stripe structlog styled-components supertest supports-color supports-preserve-symlinks-flag svelte swiper
    sympy tabulate tailwindcss tapable telecom-mas-agent telethon tenacity tensorflow textual threadpoolctl three
    tiktoken to-regex-range tokenizers tomli tomlkit torch torchaudio torchvision tornado tough-cookie
    transformers trove-classifiers ts-node tslib turbo tweepy twilio type-check type-fest type-is typer typescript
    typing-extensions typing-inspection tzdata tzlocal ujson underscore undici-types universalify
    update-browserslist-db uri-js urllib3 util-deprecate uvicorn uvloop vercel virtualenv vitest watchfiles
    wcwidth web3.js webidl-conversions webpack webpack-cli webpack-dev-server websocket-client websockets werkzeug
    whatwg-url wheel which which-typed-array winston wrangler wrap-ansi wrappy wrapt write-file-atomic xgboost
    xlsxwriter yallist yargs yargs-parser yfinance yocto-queue yt-dlp
  `),
)

/** Scopes of npm that are worth imitating. */
const popularScopes: ReadonlySet<string> = new Set(
  words(`
    @types @babel @angular @anthropic-ai @aws-sdk @azure @eslint @google-cloud @langchain @modelcontextprotocol @nestjs
    @openai @playwright @prisma @radix-ui @storybook @supabase @sveltejs @tanstack @testing-library @typescript-eslint @vercel
  `),
)

/** Established packages whose names differ from a popular one by one letter. */
const honest: ReadonlySet<string> = new Set(
  words(`
    accept angular2 angularjs ansistyles args args-parser as-number astq attr authlib aws-cdk axiom bcrypto
    beautifulsoup bmocha body-parse boto bpython brace brakes browserlist buffers byte callsite camel-case cattrs
    cchardet chartjs clui color color-namer colord combined-stream2 cookieparser cookies crick crypt crypto-es
    crypto-ts cryptojs csv-loader ctransformers cwcwidth dargs data-fns dataset datazets dbug discord-py djongo
    dot-env dydantic echarts eclint efinance elasticsearch5 elasticsearch6 elasticsearch7 elasticsearch8
    elasticsearch9 enquirer  esplint esprimaq ether eventemitter2 exec  expressjs fabric2 fabric3
    fastai fastly findup flatten form-data2 formdata fs.extra  gaxios getstream gglobby git-python gitdb2
    global google-oauth gpytorch graphiql grequests gsutil has-own hjson httperrors httpr hyper ijson inherit
    inquirer2 ipytest is-array is-blob is-node isnumber isolate isstream it-glob jiwer jsdoc jslint jsom json
    json3 json8 json_ jsona jsonc jsonp kindof   lrucache lucide-preact markdown2 media-type merge
    mergee mime-type mimer mkdir mkdir-p mkdirp2 mocker mquery murmurhash myjwt mysql ngboost object.assign
    one-time openapi panda pargs parse parsejson path-parser preact preact-redux preact-router prettierx
    pretty-format2 prism ps-node psycopg psycopg-binary punycode2 pyaml pyasn pycryptodomex pylink pymantic
    pymssql pypd pypdf3 pypdf4 pytest-csv pythonnet  react-if react-router5 react-vis reacts readdir reds
    reqwest resolver retworkx rsolve rsync scapy schedule scipp scrypt scss-loader semiver server set-proto simpy
    slack slash2 smmap2 solara source-map-cjs spython sqlite storyblok strip synckit tombi toml torchx transformer
    ts-lib tslab tslint tsutils ttypescript typecheck unicorn urijs usort vargs vasync vyper wargs websocket
    willow xbytes xoto3
  `),
)

/** For the version of the rules. */
export const packageNames = [...popular, ...popularScopes, ...honest]

/** In shorter names any other letter makes another word, so only slips of a finger count. */
const anyLetterMin = 7
const nameMin = 5

const boast = /^(?<name>.{4,})[-_.](?:official|offical|original|genuine|patched|fixed|unlocked|premium)$/
const misspelt = /(?:utilz|helperz|clientz|serivce|libary|offical)$/

/** Words after which a command is over and a sentence continues. */
const sentenceWords: ReadonlySet<string> = new Set(
  words('and or to for then before after in with if as from on when which that into using via by'),
)

/** Whether one of the packages that a command names passes for a popular one. */
export function namesLookAlike(text: string): boolean {
  for (const word of text.toLowerCase().split(/[\s,{}[\]]+/)) {
    if (sentenceWords.has(word)) return false
    const name = /^["']?(?<name>@?[a-z][\w.-]*(?:\/[\w.-]+)?)/.exec(word)?.groups!['name']?.replace(/[.:]+$/, '')
    if (name && isLookAlike(name)) return true
  }
  return false
}

/** Whether a package passes for a popular one: by a typing error in its name or scope, or by a boast added to it. */
function isLookAlike(name: string): boolean {
  const [scope, scoped] = name.startsWith('@') ? name.split('/') : []
  if (scope) return scoped !== undefined && isSlipOf(scope, popularScopes)
  // PyPI reads an underscore or a dot as a hyphen; a digit at the end states a major version.
  const plain = name.replaceAll(/[_.]/g, '-').replace(/\d{1,2}$/, '')
  if ([name, plain].some((each) => popular.has(each) || honest.has(each))) return false
  if (misspelt.test(name) || popular.has(boast.exec(name)?.groups?.['name'] ?? '')) return true
  return name.length >= nameMin && isSlipOf(name, popular)
}

/** Whether a package is among those that people install most. */
export function isPopular(name: string): boolean {
  return popular.has(name)
}

/** Whether a name is one typing error away from one of the names, but none of them. */
export function isSlipOf(name: string, names: ReadonlySet<string>): boolean {
  if (names.has(name)) return false
  for (const each of names) if (Math.abs(each.length - name.length) <= 1 && isOneSlip(name, each)) return true
  return false
}

/** Whether one letter is missing, added, doubled, swapped with the next, or (in long names) another one. */
function isOneSlip(name: string, other: string): boolean {
  let same = 0
  while (same < name.length && name[same] === other[same]) same++
  const [rest, otherRest] = [name.slice(same), other.slice(same)]
  if (rest.length === otherRest.length) {
    if (rest[0] === otherRest[1] && rest[1] === otherRest[0]) return rest.slice(2) === otherRest.slice(2)
    const isVowel = name.length === anyLetterMin - 1 && vowels.has(rest[0]!) && vowels.has(otherRest[0]!)
    const isLetter = name.length >= anyLetterMin || isVowel || looksLike.has(`${rest[0]}${otherRest[0]}`)
    return isLetter && same > 0 && rest.slice(1) === otherRest.slice(1)
  }
  const [longer, shorter] = rest.length > otherRest.length ? [rest, otherRest] : [otherRest, rest]
  const isDoubled = longer[0] === name[same - 1] || longer[0] === longer[1]
  return same > 0 && longer.slice(1) === shorter && (name.length >= anyLetterMin || isDoubled || rest === shorter)
}

const vowels: ReadonlySet<string> = new Set('aeiou')

const looksLike: ReadonlySet<string> = new Set([
  '0o',
  'o0',
  '1l',
  'l1',
  'zs',
  'sz',
  'ck',
  'kc',
  'yi',
  'iy',
  'vw',
  'wv',
  'mn',
  'nm',
])
