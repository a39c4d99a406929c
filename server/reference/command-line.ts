import type { Command } from 'commander'
import { commandsOf, createProgram } from '@berth/cli/program.ts'
import { code, page, table } from './markdown.ts'

const introduction = `\`./berth\` (or \`npm run -s berth -- ...\`) administers a Berth from the machine it runs on. How it finds the service and who may use it: [use the command line](../how-to/use-the-command-line.md).

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | refused, failed, or (\`config check\`, \`audit verify\`) a problem was found; the reason is on stderr |
| 2 | wrong usage |
| 130 | ended by Ctrl-C: what was reported as done is done, nothing else |

Answers go to stdout, everything else to stderr. At a terminal tables fit its width; elsewhere nothing is cut. With \`--json\` a command prints one JSON document; lists and exports print one document per line. With several targets each one is done or refused by itself: the exit code is 1 if any was refused, and \`--json\` prints \`{"done": [...], "failed": [{"target": ..., "error": ...}]}\`.`

const programs = `The \`berth\` of a release (package, tarball, image) also runs the programs of Berth. They have no flags. They read settings as usual, except the broker, which has variables of its own.

${table(
  ['command', 'what it runs'],
  [
    [
      code('berth start'),
      'the service in the foreground: gateway and API, after it has made the demo images that are missing',
    ],
    [
      code('berth gateway'),
      'the gateway alone, which needs `BERTH_LINK_DIR`: [run gateway and API apart](../how-to/run-gateway-and-api-apart.md)',
    ],
    [code('berth api'), 'the API alone, likewise'],
    [
      code('berth engine-broker'),
      'the broker of the socket of the engine: [keep the engine socket from the API](../how-to/keep-the-engine-socket-from-the-api.md)',
    ],
    [
      code('berth warm-up'),
      'before a restart into a new version: makes its demo images and parses its code into `BERTH_CACHE_DIR`, and ends',
    ],
    [
      code('berth demo-images'),
      'makes the demo images that are missing, unless the settings name templates or images, and ends',
    ],
  ],
)}`

/** docs/reference/command-line.md: the help of every command, word by word. */
export function commandLinePage(): string {
  const program = createProgram(
    () => {
      throw new Error('no command is run here')
    },
    { getOutHelpWidth: () => 80 },
  )
  const block = (command: Command) => `\`\`\`text\n${helpOf(command).trimEnd()}\n\`\`\``
  const commands = [...commandsOf(program)].map(([words, command]) => `### \`berth ${words}\`\n\n${block(command)}`)
  return page(
    'Command line',
    'cli/src/',
    introduction,
    '## Programs of a release',
    programs,
    '## Commands',
    block(program),
    ...commands,
  )
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 }).outputHelp()
  return help
}
