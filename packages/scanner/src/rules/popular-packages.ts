import { words } from './shapes.ts'

/**
 * Packages whose names are imitated most often, by registry. Names of fewer than six letters resemble too many
 * legitimate ones.
 */
export const popularPackages = {
  npm: words(`
    lodash express webpack typescript eslint prettier mongoose nodemon dotenv cross-env commander inquirer puppeteer
    playwright discord.js socket.io jsonwebtoken body-parser react-dom react-router react-native styled-components
    tailwindcss postcss autoprefixer babel-loader css-loader node-fetch node-sass request-promise underscore
    bluebird electron angular svelte firebase sequelize passport bcrypt cheerio winston chokidar browserify
    anthropic langchain openai axios-retry ethers web3.js hardhat solana fabric
  `),
  pypi: words(`
    requests urllib3 setuptools python-dateutil cryptography beautifulsoup4 tensorflow pytorch pandas matplotlib
    scikit-learn django flask-cors sqlalchemy selenium colorama pillow pyyaml jellyfish paramiko boto3 botocore
    openai anthropic langchain transformers fastapi uvicorn pydantic opencv-python discord.py python-dotenv psycopg2
    pymongo numpy scrapy pyinstaller pycryptodome aiohttp websockets playwright huggingface-hub
  `),
}

/** Legitimate packages whose names differ from a popular one by one typing error. */
const honest = new Set(
  words(`
    request expres lodash. fabrics electrons passports pillows web3js request-promises scapy reactnative tailwindcs
    angularjs panda websocket transformer anthropics colorma ether commanders solan django-s flaskcors cross-envs
    webpacks openais nump pandass svelt bcrypts psycopg boto winstons
  `),
)

/**
 * Returns the names with one typing error in a popular name: a missing, doubled or swapped letter, a hyphen, a digit.
 */
export function toLookAlikes(names: readonly string[]): string[] {
  const popular = new Set<string>([...popularPackages.npm, ...popularPackages.pypi])
  const all = new Set(names.flatMap(toSlips))
  return [...all].filter((name) => !popular.has(name) && !honest.has(name) && name.length > 4)
}

function toSlips(name: string): string[] {
  const slips = [
    `${name}z`,
    name.replace('-', ''),
    name.replace('s', 'z'),
    name.replaceAll('o', '0'),
    name.replace('l', '1'),
  ]
  for (let at = 1; at < name.length; at++) {
    const [before, one, other, after] = [name.slice(0, at - 1), name[at - 1]!, name[at]!, name.slice(at + 1)]
    slips.push(before + other + one + after, before + one + after, before + one + one + other + after)
  }
  return slips.filter((slip) => slip !== name)
}
