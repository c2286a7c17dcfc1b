import { command } from '../../command/command.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import { publishExamples } from '../../serving/example-skills.ts'

export const commands = {
  examples: command({
    description: 'Publish the example skills.',
    options: storeOptions,
    run: (given) =>
      withRegistry(given, async (registry) => ({ published: await publishExamples(registry) }), { make: true }),
    show: ({ published }) => published,
  }),
}
