import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { readConfig, type Config } from '@berth/server/config/config.ts'
import { fileVariable, withSecretsOfFiles } from '@berth/server/config/env-file.ts'
import { secretSettings, type SettingName } from '@berth/server/config/settings.ts'
import { catalogueEntries } from '@berth/server/templates/catalogue.ts'
import { WrongUsage } from '#/command-failure.ts'

/** Values by setting, as far as they are known; empty means "not set". */
export type Answers = Readonly<Partial<Record<SettingName, string>>>

/** What `berth init` asks. Each question is for one setting. */
interface Question {
  readonly setting: SettingName
  /** As commander takes it: `--domain <domain>`. */
  readonly flag: string
  readonly title: string
  /** One or two sentences below the title. */
  readonly explanation: string
  /** The usual answer; null if there is none, so that it has to be given. */
  readonly usual: (answers: Answers) => string | null
  /** Whether it is asked at all; always when not given. */
  readonly isAsked?: (answers: Answers) => boolean
  /** Not shown while it is typed, and written to a file of its own. */
  readonly isSecret?: true
}

/** The answer for "not set". */
export const none = 'none'

const isHttps = (answers: Answers) => answers.PREFERRED_URL_SCHEME === 'https'
const hasOwnTls = (answers: Answers) => isHttps(answers) && !answers.TRUSTED_PROXIES
const hasMail = (answers: Answers) => Boolean(answers.SMTP_URL)
const hostOf = ({ BASE_DOMAIN = '' }: Answers) => BASE_DOMAIN.replace(/:\d+$/, '')

const isLocal = (answers: Answers) => /(^|\.)localhost$/.test(hostOf(answers))

/** In their order: later ones depend on earlier ones. */
export const questions: readonly Question[] = [
  {
    setting: 'BASE_DOMAIN',
    flag: '--domain <domain>',
    title: 'Domain',
    explanation:
      'Where users reach Berth and their containers, e.g. berth.example.org. Only hosts that are yours: the cookie is for all of its subdomains.',
    usual: () => null,
  },
  {
    setting: 'SPAWNER_SUBDOMAIN',
    flag: '--subdomain <label>',
    title: 'Subdomain in front of it',
    explanation: `"${none}": users come to the domain itself.`,
    usual: () => none,
  },
  {
    setting: 'PREFERRED_URL_SCHEME',
    flag: '--scheme <scheme>',
    title: 'Scheme: https or http',
    explanation: 'With http, tokens travel in plain text: only for a trial on one machine.',
    usual: (answers) => (isLocal(answers) ? 'http' : 'https'),
  },
  {
    setting: 'TRUSTED_PROXIES',
    flag: '--trusted-proxies <addresses>',
    title: 'Address of the TLS proxy in front',
    explanation: `nginx, Caddy and the like on this machine: 127.0.0.1. "${none}": Berth has the certificate itself.`,
    usual: (answers) => (answers.TLS_CERT_FILE ? none : '127.0.0.1'),
    isAsked: isHttps,
  },
  {
    setting: 'TLS_CERT_FILE',
    flag: '--tls-cert-file <file>',
    title: 'File of the certificate',
    explanation: 'PEM, with the whole chain. It is read again when it changes.',
    usual: () => null,
    isAsked: hasOwnTls,
  },
  {
    setting: 'TLS_KEY_FILE',
    flag: '--tls-key-file <file>',
    title: 'File of its private key',
    explanation: 'PEM; other accounts of the machine must not be able to read it.',
    usual: () => null,
    isAsked: hasOwnTls,
  },
  {
    setting: 'HOST',
    flag: '--host <address>',
    title: 'Address to listen on',
    explanation: '127.0.0.1 behind a proxy on this machine; 0.0.0.0 for other machines.',
    usual: (answers) => (hasOwnTls(answers) ? '0.0.0.0' : '127.0.0.1'),
  },
  {
    setting: 'PORT',
    flag: '--port <port>',
    title: 'Port to listen on',
    explanation: '443 if Berth has the certificate itself; it then needs CAP_NET_BIND_SERVICE.',
    usual: (answers) => (hasOwnTls(answers) ? '443' : '8080'),
  },
  {
    setting: 'SMTP_URL',
    flag: '--smtp-url <url>',
    title: 'Mail server',
    explanation: `smtps://user:password@mail.example.org, or smtp://... with STARTTLS. "${none}": links are only written to the log.`,
    usual: () => null,
    isSecret: true,
  },
  {
    setting: 'MAIL_FROM',
    flag: '--mail-from <address>',
    title: 'Sender of mails',
    explanation: 'An address that the mail server sends for.',
    usual: (answers) => `berth@${hostOf(answers)}`,
    isAsked: hasMail,
  },
  {
    setting: 'SIGN_IN',
    flag: '--sign-in <ways>',
    title: 'How users sign in: link, oidc or link,oidc',
    explanation: 'link: by a link in a mail. oidc: by OpenID Connect providers, such as Keycloak, Entra or Google.',
    usual: (answers) => (answers.OIDC_PROVIDERS_FILE ? 'link,oidc' : 'link'),
  },
  {
    setting: 'OIDC_PROVIDERS_FILE',
    flag: '--oidc-providers-file <file>',
    title: 'File of the OpenID Connect providers',
    explanation: 'JSON or YAML: docs/how-to/sign-in-with-openid-connect.md.',
    usual: () => null,
    isAsked: ({ SIGN_IN = '' }) => SIGN_IN.includes('oidc'),
  },
  {
    setting: 'SIGN_UP',
    flag: '--sign-up <rule>',
    title: 'Who may register: open or invited',
    explanation:
      'open: everyone who knows the address of this host. invited: only administrators and addresses that they invite.',
    // On a domain that others can find, the first who comes would be the administrator.
    usual: (answers) => (isLocal(answers) ? 'open' : 'invited'),
  },
  {
    setting: 'ADMIN_EMAILS',
    flag: '--admin-emails <addresses>',
    title: 'Addresses of administrators',
    explanation: `Separated by commas. "${none}": the first user who registers is the administrator.`,
    usual: ({ SIGN_UP }) => (SIGN_UP === 'invited' ? null : none),
  },
  {
    setting: 'CONTAINER_TEMPLATES',
    flag: '--templates <names>',
    title: 'Templates of the catalogue',
    get explanation() {
      const names = catalogueEntries().map(({ name }) => name)
      return `Separated by commas: ${names.join(', ')}. "${none}": a file of your own, or the two demo types.`
    },
    usual: () => none,
    isAsked: (answers) => !answers.CONTAINER_TEMPLATES_FILE,
  },
  {
    setting: 'CONTAINER_TEMPLATES_FILE',
    flag: '--templates-file <file>',
    title: 'File of the container templates',
    explanation: `JSON or YAML: docs/reference/templates.md. "${none}": the two demo types.`,
    usual: () => none,
    isAsked: (answers) => !answers.CONTAINER_TEMPLATES,
  },
]

/** Asks one question. @param usual shown as the answer of an empty line; null: there is none */
export type Ask = (question: Question, usual: string | null) => Promise<string>

export interface AnswerSources {
  /** Values of flags, by setting. */
  readonly given: Answers
  /** Values of the present file. */
  readonly present: Answers
  /** Null: without a terminal. */
  readonly ask: Ask | null
  /** Whether only what is given is changed, when nothing is asked. */
  readonly isPartial: boolean
  /** @returns why a value cannot be, in words that begin with the setting; undefined when it can */
  readonly problemOf: (answers: Answers, question: Question) => string | undefined
  /** Receives the problem of an answer, before the question is asked again. */
  readonly note: (problem: string) => void
}

/**
 * An answer for every question that is asked: of a flag, else from the terminal, else the present value, else the usual
 * one, unless only what is given is to be changed. Questions that are not asked keep what the file says.
 * @throws {WrongUsage} without a terminal: with the flags that are missing, or for a value that cannot be
 */
export async function collectAnswers(questions: readonly Question[], sources: AnswerSources): Promise<Answers> {
  const missing: string[] = []
  let answers: Answers = { ...sources.present, ...cleared(sources.given) }
  const isComplete = questions.every(({ setting }) => sources.given[setting] !== undefined)
  const ask = isComplete ? null : sources.ask
  for (const question of questions) {
    const { setting, isAsked = () => true } = question
    if (!isAsked(answers)) continue
    const given = sources.given[setting]
    const usual = sources.present[setting] ?? question.usual(answers)
    if (given === undefined && ask) answers = await askUntilRight(question, usual, answers, ask, sources)
    else if (given === undefined && sources.isPartial) continue
    else if (given === undefined && usual === null) missing.push(question.flag)
    else answers = withAnswer(answers, question, given ?? usual ?? none)
    const problem = sources.problemOf(answers, question)
    if (problem !== undefined && given !== undefined) throw new WrongUsage(problem)
  }
  if (missing.length === 0) return answers
  throw new WrongUsage(
    `There is no terminal to ask at. Add ${missing.join(', ')} ("${none}" for none, where it may be).`,
  )
}

async function askUntilRight(
  question: Question,
  usual: string | null,
  answers: Answers,
  ask: Ask,
  { problemOf, note }: AnswerSources,
): Promise<Answers> {
  for (;;) {
    const answer = (await ask(question, usual)).trim() || usual
    if (answer === null) {
      note('This has no usual answer.')
      continue
    }
    const next = withAnswer(answers, question, answer)
    const problem = problemOf(next, question)
    if (problem === undefined) return next
    note(problem)
  }
}

const withAnswer = (answers: Answers, { setting }: Question, answer: string): Answers => ({
  ...answers,
  [setting]: answer === none ? '' : answer,
})

const cleared = (given: Answers): Answers =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value === none ? '' : value]))

type Settings = Readonly<Record<string, string | undefined>>

/** The settings that Berth would have with these answers in its file. */
export class CandidateConfig {
  /** Of the environment, without those of the file. */
  readonly #environment: Settings

  /** @param env settings of environment and file @param text of the file that they were read from */
  constructor(env: Settings, text: string) {
    const inFile = new Set(Object.keys(parseEnv(text)))
    const isOfFile = (name: string) => inFile.has(name) || inFile.has(fileVariable(name))
    this.#environment = Object.fromEntries(Object.entries(env).filter(([name]) => !isOfFile(name)))
  }

  /** @param values of the file; secrets by themselves */
  read(values: Settings): { readonly config: Config | null; readonly problems: readonly string[] } {
    return readConfig({ ...this.#environment, ...values }, (file) => readFileSync(file, 'utf8'))
  }

  /** Problem of the answer to a question; what only a later answer can complete is none yet. */
  problemOf(answers: Answers, question: Question): string | undefined {
    const later = questions.slice(questions.indexOf(question) + 1).map(({ setting }) => setting)
    return this.read(answers).problems.find(
      (problem) => problem.includes(question.setting) && !later.some((setting) => problem.includes(setting)),
    )
  }
}

/** Values of a file, secrets of files included; a secret that cannot be read is none. */
export function presentAnswers(values: Settings): Answers {
  const { env } = withSecretsOfFiles(values)
  const files = new Set(secretSettings.map(fileVariable))
  return Object.fromEntries(Object.entries(env).filter(([name]) => !files.has(name))) as Answers
}
