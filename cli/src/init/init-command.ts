import { readFileSync } from 'node:fs'
import path from 'node:path'
import { addressesFor, type Config } from '@berth/server/config/config.ts'
import { fileVariable } from '@berth/server/config/env-file.ts'
import type { Setting } from '@berth/server/config/setting-values.ts'
import { secretSettings, settingGroups, settings } from '@berth/server/config/settings.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { collect, defineCommand } from '#/command.ts'
import { findService } from '#/find-service.ts'
import type { CommandContext } from '#/with-api.ts'
import type { AnswerCheck } from './check-answers.ts'
import { EnvDocument, applyAnswers, writePrivately } from './env-document.ts'
import {
  CandidateConfig,
  collectAnswers,
  none,
  presentAnswers,
  questions,
  type Answers,
  type Ask,
} from './questions.ts'

/** `berth init`. */
export const init = defineCommand({
  description: 'write the settings file: ask what is needed, check it, and change only what is answered',
  usage: (command) => {
    const begun = command.option('--file <file>', 'settings file; berth.env, or that of BERTH_ENV_FILE, if not given')
    for (const { flag, title, setting } of questions) begun.option(flag, `${title} (${setting})`)
    return begun
      .option('--set <name=value>', 'any other setting; may be given several times', collect, [])
      .option('--test-mail <address>', 'send a real mail to this address before the file is written')
      .option('--yes', 'ask nothing: change what flags say; in a new file also take the usual answers')
      .option('--no-check', 'write without looking at DNS, ports, mail server, engine, disk and clock')
  },
  effect:
    'Writes a commented file with mode 0600; secrets go to files of their own beside it. A second run changes ' +
    'values in their place: comments, unknown settings and order stay, and what is removed is commented out. Asks only ' +
    `at a terminal; elsewhere, and with --yes, flags answer, and in a new file the usual answers. "${none}" clears a ` +
    'setting. A password in --smtp-url is seen by other accounts of the machine: use --set SMTP_URL_FILE=file. ' +
    'Findings do not keep the file from being written without a terminal. Berth takes changes by systemctl reload berth.',
  examples: [
    ['init', 'answer the questions'],
    ['init --domain berth.example.org --smtp-url none --yes', 'a new file, from a script'],
    ['init --set MAX_RUNNING=30 --yes', 'change one setting'],
  ],
  work: initialize,
})

interface InitOptions {
  readonly file?: string
  readonly set: readonly string[]
  readonly testMail?: string
  readonly yes?: true
  readonly check: boolean
  /** Of questions, by commander's names for their flags. */
  readonly [flag: string]: unknown
}

async function initialize(context: CommandContext, options: InitOptions): Promise<void> {
  const file = path.resolve(options.file === undefined ? '.' : context.folder, options.file ?? defaultFile(context))
  const before = readIfThere(file)
  const document = new EnvDocument(before ?? newEnvFile())
  const flags = flagsIn(options)
  const given = { ...flags, ...setsIn(options.set, document) }
  const isOneSetting = options.yes === true && options.set.length > 0 && Object.keys(flags).length === 0
  const present = presentAnswers(document.values)
  const candidate = new CandidateConfig(context.env, before ?? '')
  const isAsking = context.terminal.isInteractive && !context.terminal.isJson && !options.yes
  const answers = await collectAnswers(questions, {
    given,
    present,
    ask: isAsking ? askAt(context, present) : null,
    isPartial: before !== null || isOneSetting,
    problemOf: (tried, question) => candidate.problemOf(tried, question),
    note: (problem) => context.terminal.note(`  ! ${problem}`),
  })
  const { config, problems } = candidate.read(answers)
  if (!config) throw new CommandFailed(['Nothing was written:', ...problems.map((each) => `  - ${each}`)].join('\n'))
  const checked = options.check ? await look(context, config) : null
  const testMail = await tryMail(context, config, options, isAsking)
  if (isAsking && (testMail?.reason || checked?.findings.some(({ level }) => level === 'critical')))
    await context.terminal.confirm(`Write ${file} all the same?`, '--yes', context.signal)
  const secrets = applyAnswers(document, answers, present, path.dirname(file))
  for (const secret of secrets) writePrivately(path.resolve(secret.file), `${secret.secret}\n`, file)
  const isChanged = document.text !== before
  if (isChanged) writePrivately(file, document.text)
  report(context, { file, isChanged, secrets: secrets.map((each) => each.file), config, checked, testMail })
}

const defaultFile = ({ env }: CommandContext) => env.BERTH_ENV_FILE?.trim() || 'berth.env'

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new CommandFailed(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** A terminal. @throws {CommandFailed} when the input ends, or at Ctrl-C */
function askAt({ terminal, signal }: CommandContext, present: Answers): Ask {
  return async ({ title, explanation, setting, isSecret }, usual) => {
    const shown = isSecret && present[setting] ? 'as it is' : usual === '' ? none : usual
    terminal.note('')
    terminal.note(explanation)
    const answer = await terminal.ask(`${title}${shown === null ? '' : ` [${shown}]`}: `, signal, isSecret === true)
    if (answer === undefined) throw new CommandFailed('Nothing was written.')
    return answer
  }
}

async function look(context: CommandContext, config: Config): Promise<AnswerCheck> {
  const { terminal, signal, dataDir } = context
  terminal.progress('looking at DNS, ports, mail server, engine, disk and clock ...')
  const { checkAnswers } = await import('./check-answers.ts')
  const isRunning = await findService({ dataDir, note: () => {}, signal, timeout: 0 }).then(Boolean, () => true)
  const checked = await checkAnswers(config, isRunning, signal)
  terminal.endProgress()
  for (const { level, check, what, fix } of checked.findings) {
    terminal.print(`${level.padEnd(8)}  ${check}: ${what}`)
    terminal.print(`          fix: ${fix}`)
  }
  for (const { check, reason } of checked.notChecked)
    terminal.print(`unknown   ${check}: could not be checked: ${reason}`)
  return checked
}

/** A mail that was tried; `reason` why it was not accepted, else null. */
interface TriedMail {
  readonly to: string
  readonly reason: string | null
}

async function tryMail(
  { terminal, signal }: CommandContext,
  config: Config,
  { testMail, check }: InitOptions,
  isAsking: boolean,
): Promise<TriedMail | null> {
  if (config.smtpUrl === null || (testMail === undefined && !(isAsking && check))) return null
  const to = testMail ?? (await terminal.ask(`Send a test mail to [${none}]: `, signal))
  if (!to || to === none) return null
  const { sendTestMail } = await import('./check-answers.ts')
  const reason = await sendTestMail(config, to)
  terminal.print(reason === null ? `The mail server accepted a mail to ${to}.` : `No mail to ${to}: ${reason}`)
  return { to, reason }
}

interface Written {
  readonly file: string
  readonly isChanged: boolean
  readonly secrets: readonly string[]
  readonly config: Config
  readonly checked: AnswerCheck | null
  readonly testMail: TriedMail | null
}

function report({ terminal }: CommandContext, { file, isChanged, secrets, config, checked, testMail }: Written): void {
  const address = addressesFor(config, config.port).frontendUrl
  terminal.json({
    file,
    changed: isChanged,
    secret_files: secrets,
    address,
    findings: checked?.findings ?? [],
    not_checked: checked?.notChecked ?? [],
    test_mail: testMail,
  })
  terminal.print(
    isChanged ? `Written: ${[file, ...secrets].join(', ')}` : `${file} says so already; nothing was changed.`,
  )
  terminal.print(`Users reach Berth at ${address}. Start or reload it, then: berth doctor`)
  if (testMail?.reason) throw new CommandFailed('The test mail was not accepted; the file is written.')
}

/** Answers of the flags of questions. @param options by commander's names */
function flagsIn(options: Readonly<Record<string, unknown>>): Answers {
  const given = questions.flatMap(({ flag, setting }) => {
    const name = /^--(\S+)/.exec(flag)?.[1]?.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) ?? ''
    const value = options[name]
    return typeof value === 'string' ? [[setting, value.trim()] as const] : []
  })
  return Object.fromEntries(given)
}

/**
 * Answers of `--set`. A file of a secret is put into the document at once, so that its content is what the file says.
 * @throws {WrongUsage} for a setting that does not exist
 */
function setsIn(sets: readonly string[], document: EnvDocument): Answers {
  const files = new Map(secretSettings.map((name) => [fileVariable(name), name]))
  const answers: Record<string, string> = {}
  for (const assignment of sets) {
    const [, name = '', value = ''] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(assignment) ?? []
    const secret = files.get(name)
    if (secret !== undefined) document.replace(secret, name, value)
    else if (settings.has(name)) answers[name] = value === '' ? none : value
    else
      throw new WrongUsage(
        `--set ${assignment}: there is no setting ${name || 'in this'}; see docs/reference/settings.md`,
      )
  }
  return answers
}

const width = 100

/** Text of a new settings file: every setting with its description and limits, commented out at its default. */
function newEnvFile(): string {
  const head = wrap(
    'Settings of Berth. "berth init" writes and changes this file, and keeps every line that it does not change. Check ' +
      'it with "berth config check"; "systemctl reload berth" makes Berth read it again. A setting of the environment ' +
      'takes precedence. Secrets are in files of their own: NAME_FILE.',
  )
  const groups = Object.entries<Readonly<Record<string, Setting>>>(settingGroups)
  return [...head, ...groups.flatMap(([title, rows]) => ['', `# --- ${title} ---`, ...linesOf(rows)])]
    .map((line) => `${line}\n`)
    .join('')
}

const linesOf = (rows: Readonly<Record<string, Setting>>) =>
  Object.entries(rows).flatMap(([name, { text, values, default: written, usually, isSecret }]) => [
    '',
    ...wrap(plain(`${text} Value: ${values}.${usually === undefined ? '' : ` Default: ${usually}.`}`)),
    isSecret ? `#${name}_FILE=` : `#${name}=${written ?? ''}`,
  ])

/** Without the Markdown of the reference. */
const plain = (text: string) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')

function wrap(text: string): string[] {
  const lines = ['#']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length + 1 > width) lines.push(`# ${word}`)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}
