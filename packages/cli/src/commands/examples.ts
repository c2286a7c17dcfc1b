import { command } from '../command/command.ts'
import { publishExamples } from '../serving/example-skills.ts'
import { storeOptions, withRegistry } from '../registry/place.ts'

export const commands = {
  examples: command({
    description: 'Publish the example skills.',
    options: storeOptions,
    run: (given) =>
      withRegistry(given, async (registry) => ({ published: await publishExamples(registry) }), { make: true }),
    show: ({ published }) => published,
  }),
}
