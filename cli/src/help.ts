import type { Command } from 'commander'
import type { CommandContext } from './with-api.ts'

/**
 * Runs the work of a command with its context; provided by the program, because the output format is a global option.
 */
export type Run = (work: (context: CommandContext) => Promise<void>) => Promise<void>

export interface HelpText {
  /** Effects on running containers, and others that may surprise. */
  readonly effect: string
  /** Command lines without `berth`, and their purpose. */
  readonly examples: readonly (readonly [line: string, what: string])[]
}

const width = 78

/** Appends effects and examples to the help of a command. */
export function addHelp(command: Command, { effect, examples }: HelpText): Command {
  const lines = examples.flatMap(([line, what]) => [`  # ${what}`, `  berth ${line}`])
  return command.addHelpText('after', ['', ...wrap(effect), '', 'Examples:', ...lines].join('\n'))
}

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length + 1 > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
