/** A long list of short words. */
export const words = (text: string): string[] => text.trim().split(/\s+/)

/** Packages whose names are worth imitating, of npm and PyPI: those that people install most. */
const popular: ReadonlySet<string> = new Set(
  words(`
    accelerate acorn aiobotocore aiohttp alembic angular ansible anthropic anyio apollo-server archiver async attrs
    autoprefixer aws-sdk awscli axios axios-retry azure-core azure-identity babel-loader bcrypt beautifulsoup4
    bignumber.js black bluebird bootstrap boto3 botocore cachetools camelcase celery certifi chalk chardet chart.js
    cheerio chokidar click colorama colors commander concurrently cookie-parser cosmiconfig coverage cross-env
    cross-fetch crypto-js cryptography css-loader cypress databricks-sql-connector datasets date-fns dayjs debug
    defusedxml discord.js discord.py distro django dnspython docker docstring-parser docutils dotenv elasticsearch
    electron email-validator esbuild eslint esprima ethers eventemitter3 execa express express-session fabric fast-glob
    fastapi fastify fastq figlet filelock firebase flake8 flask flask-cors fonttools form-data framer-motion fs-extra
    fsspec gatsby gensim gitpython globby google-api-core google-api-python-client google-auth google-cloud-core
    google-cloud-storage google-genai gradio graphql grpcio grpcio-tools gunicorn handlebars hardhat hatchling helmet
    httpcore httpx httpx-sse huggingface-hub husky immer inquirer ioredis ipython isort jellyfish jinja2 jmespath
    joblib jquery js-yaml jsdom json5 jsonfile jsonschema jsonwebtoken jupyter jupyterlab kafka-python keras keyring
    kubernetes langchain lerna lightgbm lint-staged litellm lodash loguru lru-cache lucide-react magic-string markdown
    marked markupsafe matplotlib mime-types minimatch minimist mkdirp mocha moment mongodb mongoose morgan moviepy
    msgpack multer multidict multiprocess mysql2 mysqlclient nanoid netlify-cli networkx node-fetch node-sass
    nodemailer nodemon notebook numpy oauthlib openai opencv-python openpyxl opentelemetry-api opentelemetry-sdk orjson
    packaging pandas papaparse paramiko parcel passlib passport pdf-lib pdfkit pexpect pillow platformdirs playwright
    plotly poetry poetry-core polars postcss prettier prisma prompt-toolkit proto-plus protobuf psutil psycopg2
    psycopg2-binary punycode puppeteer pyarrow pycryptodome pydantic pydantic-ai-slim pydantic-core pydantic-settings
    pydub pygments pyinstaller pyjwt pylint pymongo pymysql pynacl pyopenssl pyparsing pypdf pypdf2 pytesseract pytest
    pytest-asyncio pytest-cov python-dateutil python-docx python-dotenv python-multipart python-telegram-bot pytorch
    pyyaml react react-dom react-native react-redux react-router react-router-dom recharts redis redux regex reportlab
    request requests requests-oauthlib requests-toolbelt rimraf rollup ruamel-yaml s3transfer scikit-learn scipy scrapy
    seaborn secretstorage selenium semver sentence-transformers sequelize serverless setuptools sglang sharp shelljs
    simplejson sinon slack-sdk snowflake-connector-python socket.io solana sortedcontainers source-map spacy sprintf-js
    sqlalchemy sqlite3 sqlmodel starlette statsmodels storybook streamlit stripe structlog styled-components supertest
    svelte swiper sympy tabulate tailwindcss telethon tenacity tensorflow textual three tiktoken tokenizers tomli
    tomlkit torch torchaudio torchvision tornado tough-cookie transformers ts-node tslib turbo tweepy twilio typer
    typescript typing-extensions tzdata tzlocal ujson underscore urllib3 uvicorn uvloop vercel virtualenv vitest
    watchfiles web3.js webpack webpack-cli webpack-dev-server websocket-client websockets werkzeug winston wrangler
    wrapt xgboost xlsxwriter yargs yfinance yt-dlp
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
    angular2 attr aws-cdk bcrypto beautifulsoup boto camel-case cchardet chartjs color cookieparser crypto-es crypto-ts
    cryptojs csv-loader data-fns dataset datazets dbug discord-py djongo dot-env elasticsearch5 elasticsearch6
    elasticsearch7 elasticsearch8 elasticsearch9 esplint esprimaq ether eventemitter2 exec fabric2 fabric3 fastai
    form-data2 formdata fs.extra gglobby git-python google-oauth graphiql inquirer2 jsom json json3 json8 lrucache
    lucide-preact markdown2 mime-type mimer mkdir mkdir-p mkdirp2 mysql openapi panda prettierx prism psycopg
    psycopg-binary punycode2 pyaml pycryptodomex pymantic pymssql pypd pytest-csv react-router5 reds reqwest scapy
    semiver simpy sqlite storyblok strip toml transformer ttypescript unicorn websocket
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

/** Letters that look alike, or are next to each other on a keyboard. */
const looksLike: ReadonlySet<string> = new Set(words('0o o0 1l l1 zs sz ck kc yi iy vw wv mn nm'))
