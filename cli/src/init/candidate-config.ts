import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { readConfig, type Config } from '@berth/server/config/config.ts'
import { fileVariable, withSecretsOfFiles } from '@berth/server/config/secret-settings.ts'
import { secretSettings } from '@berth/server/config/setting-descriptions.ts'
import { questions, type Answers, type Question } from './questions.ts'

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
