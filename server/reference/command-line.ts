import type { Command } from 'commander'
import { commandsOf, createProgram } from '#/cli/program.ts'
import { page } from './markdown.ts'

const introduction = `\`./berth\` (or \`npm run -s berth -- ...\`) administers a Berth from the machine it runs on. How it finds the service and who may use it: [use the command line](../how-to/use-the-command-line.md).

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | refused, failed, or (\`config check\`, \`audit verify\`) a problem was found; the reason is on stderr |
| 2 | wrong usage |
| 130 | ended by Ctrl-C: what was reported as done is done, nothing else |

Answers go to stdout, everything else to stderr. At a terminal tables fit its width; elsewhere nothing is cut. With \`--json\` a command prints one JSON document; lists and exports print one document per line. With several targets each one is done or refused by itself: the exit code is 1 if any was refused, and \`--json\` prints \`{"done": [...], "failed": [{"target": ..., "error": ...}]}\`.`

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
  return page('Command line', 'server/src/cli/', introduction, '## Commands', block(program), ...commands)
}

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 }).outputHelp()
  return help
}
