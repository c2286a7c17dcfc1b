import { guest, localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { command } from '../../command/command.ts'
import { storeOptions } from '../../registry/place.ts'
import { runNode } from '../../serving/run-node.ts'
import { withVariables } from '../../serving/listen-options.ts'
import { serveOptions } from '../../serving/serve-options.ts'

const { 'database-url': databaseUrl, ...folder } = storeOptions
// --database-url does not take its value from DATABASE_URL, which counts only if nothing else names a registry.
const options = { ...serveOptions, ...withVariables(folder), 'database-url': databaseUrl! }

export const commands = {
  serve: command({
    description: 'Serve a registry until interrupted. Requests in progress are finished first.',
    options,
    run: (given, output) =>
      runNode(given, options, output, async (registry) => {
        // Print the setup code only while it is needed: anyone who knows it can create the first user, an
        // administrator.
        const { needed } = await localApi(registry, guest).getSetup()
        const setupCode = needed ? partsOf(registry).setup.code : undefined
        return {
          setupCode,
          toLines: (url) =>
            setupCode === undefined
              ? []
              : [`There are no users yet. Create the first one at ${url}/account/setup with the code ${setupCode}`],
        }
      }),
  }),
}
