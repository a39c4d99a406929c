import { WrongUsage } from '#/command-failure.ts'
import type { Answers, Question } from './questions.ts'
import { none } from './questions.ts'

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
