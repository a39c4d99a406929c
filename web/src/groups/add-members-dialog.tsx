import { useId, useMemo, useRef, useState, type ChangeEvent, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { maxEmails, type AddMembersResponse, type GroupRole } from '@berth/api/schemas/groups.ts'
import type { MemberPrediction } from '@berth/api/schemas/groups/group-invitations.ts'
import { ColumnChoice, LineList } from '#/addresses/address-lines.tsx'
import { findAddresses, readTextFile, type FoundAddresses } from '#/addresses/find-addresses.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, SubmitButton } from '#/components/button.tsx'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { Field, Options } from '#/components/field.tsx'
import { useTask } from '#/components/use-task.ts'
import { withoutEarlier, type EarlierAddition } from './earlier-addition.ts'
import { useMembersChanged } from './use-members.ts'

/**
 * Adds users by their addresses, typed or from a file, and invites others; says before what will happen, and after it
 * what has.
 */
export function AddMembersDialog({ id: group, onClose }: { id: string; onClose: () => void }) {
  const t = useTranslations('groups.add')
  const roles = useTranslations('groups.members.role')
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState('')
  const [role, setRole] = useState<GroupRole>('member')
  const [column, setColumn] = useState<string>()
  const [problem, setProblem] = useState<'missing' | 'columnMissing' | 'tooMany' | 'fileUnreadable'>()
  const changed = useMembersChanged(group)
  const { busy, error, progress, predictions, outcome, check, add, reset } = useAddition(group)
  const found = useMemo(() => findAddresses(text, column), [text, column])
  const { columns } = found
  const unused = useUnusedLines({ found, predictions, outcome })
  const unusedTitle = t(outcome ? 'refused' : 'unusable')
  /** Nothing is left to be tried again. */
  const isDone = outcome?.refused.length === 0 && error === undefined

  function begin(work: typeof check) {
    const { length } = found.addresses
    const isUnclear = columns.length > 0 && found.column === undefined
    const wrong = isUnclear ? 'columnMissing' : length === 0 ? 'missing' : length > maxAddresses ? 'tooMany' : undefined
    setProblem(wrong)
    if (wrong) return (isUnclear ? document.getElementById(`${id}-column`) : field.current)?.focus()
    void work(found, role, changed)
  }
  function write(next: string) {
    reset()
    setProblem(undefined)
    setText(next)
  }
  function chooseColumn(next: string) {
    reset()
    setProblem(undefined)
    setColumn(next)
  }
  function chooseRole(next: GroupRole) {
    reset()
    setRole(next)
  }
  async function addFile({ target }: ChangeEvent<HTMLInputElement>) {
    const [file] = target.files ?? []
    const read = file && (await readTextFile(file))
    if (read !== undefined) write(read)
    else if (file) setProblem('fileUnreadable')
  }
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!isDone) begin(add)
  }
  return (
    <Dialog title={t('title')} variant="sheet" onClose={onClose}>
      {(close) => (
        <form className="group-form" onSubmit={submit} noValidate>
          <Field label={t('emails')} hint={t('hint')} alert={`${id}-alert`}>
            {(control) => (
              <textarea
                {...control}
                ref={field}
                rows={4}
                value={text}
                // What is typed meanwhile would be checked and added by no one.
                readOnly={busy}
                spellCheck={false}
                autoCapitalize="none"
                onChange={({ target }) => write(target.value)}
              />
            )}
          </Field>
          <label className="file-line">
            {t('file')}
            <input
              type="file"
              accept=".csv,.tsv,.txt,text/csv,text/plain"
              disabled={busy}
              // The same file can be chosen again after a correction, and its name stays beside the field.
              onClick={({ currentTarget }) => (currentTarget.value = '')}
              onChange={(event) => void addFile(event)}
            />
          </label>
          <ColumnChoice
            id={`${id}-column`}
            found={found}
            className="group-field"
            isOff={busy}
            words={{ label: t('column', { count: columns.length }), choose: t('chooseColumn'), all: t('allColumns') }}
            onChoose={chooseColumn}
          />
          <Field label={t('role')} hint={role === 'member' && t('roleHint')}>
            {(control) => (
              <select
                {...control}
                value={role}
                disabled={busy}
                onChange={({ target }) => chooseRole(target.value as GroupRole)}
              >
                <Options of={(['member', 'manager'] as const).map((each) => [each, roles(each)])} />
              </select>
            )}
          </Field>
          <Alert id={`${id}-alert`} error={error} sentence={problem && t(problem, { max: maxAddresses })} />
          <div role="status">
            {progress && (
              <>
                <progress aria-label={t('busy')} value={progress.done} max={progress.total} />
                <p className="hint">{t('progress', progress)}</p>
              </>
            )}
            {predictions && !outcome && <AdditionPreview predictions={predictions} found={found} />}
            {outcome && <AdditionOutcome outcome={outcome} />}
            {unused.length > 0 && <p>{unusedTitle}</p>}
          </div>
          <LineList label={unusedTitle} lines={unused} />
          <div className="actions end">
            {/* It ends what is under way. */}
            {busy && !outcome && <EndButton word="cancel" onPress={close} />}
            {/* What was added is not added again by a second press, which would mail all who are invited once more. */}
            <Button isOff={busy || isDone} onPress={() => begin(check)}>
              {t('check')}
            </Button>
            <SubmitButton isOff={busy || isDone}>{busy ? t('busy') : t('button')}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** Without one it is no address, and that is why the server refused it. */
const hasDomain = (email: string) => /@[^@\s]+\.[^@\s]+$/.test(email)

const effects = ['join', 'invite', 'invited', 'member'] as const

interface PreviewProps {
  predictions: readonly MemberPrediction[]
  found: FoundAddresses
}

/** What an addition will do. */
function AdditionPreview({ predictions, found }: PreviewProps) {
  const t = useTranslations('groups.add')
  const count = (effect: MemberPrediction['effect']) => predictions.filter((each) => each.effect === effect).length
  const named = found.addresses.filter(({ name }) => name !== undefined).length
  return (
    <ul>
      {effects.map(
        (effect) => count(effect) > 0 && <li key={effect}>{t(`will.${effect}`, { count: count(effect) })}</li>,
      )}
      {named > 0 && <li>{t('named', { count: named })}</li>}
    </ul>
  )
}

/** What an addition has done. */
function AdditionOutcome({ outcome: { added, invited } }: { outcome: AddMembersResponse }) {
  const t = useTranslations('groups.add')
  return (
    <p>
      {added.length > 0 && t('added', { count: added.length })}{' '}
      {invited.length > 0 && t('invited', { count: invited.length })}
    </p>
  )
}

interface Report {
  readonly found: FoundAddresses
  readonly predictions: readonly MemberPrediction[] | undefined
  readonly outcome: AddMembersResponse | undefined
}

/** Each line that was not added, or cannot be, with its reason, in their order; none before a check or an addition. */
function useUnusedLines({ found, predictions, outcome }: Report): readonly string[] {
  const t = useTranslations('groups.add')
  if (!predictions && !outcome) return []
  const unusable = predictions?.filter(({ effect }) => effect === 'invalid' || effect === 'not_allowed') ?? []
  const refused = outcome
    ? outcome.refused.map((email) => ({ email, why: t(hasDomain(email) ? 'why.refused' : 'why.invalid') }))
    : unusable.map(({ email, effect }) => ({ email, why: t(effect === 'invalid' ? 'why.invalid' : 'why.notAllowed') }))
  return [
    ...found.rejected.map((each) => ({ ...each, why: t('why.noAddress') })),
    ...refused.map(({ email, why }) => ({ ...lineOf(found, email), why })),
  ]
    .toSorted((one, other) => one.line - other.line)
    .map((each) => t('line', each))
}

function lineOf({ addresses }: FoundAddresses, email: string): { line: number; text: string } {
  return addresses.find(({ text }) => text.toLowerCase() === email.toLowerCase()) ?? { line: 0, text: email }
}

/** Max addresses of one addition. */
const maxAddresses = 10_000
/** Addresses in a request that adds: the server waits for its mails. */
const batchSize = 50
/** Longer than the server takes to mail the invitations of a request, in ms. */
const timeout = 90_000

/** How far an addition is, in addresses. */
interface AdditionProgress {
  readonly done: number
  readonly total: number
}

type Work = (found: FoundAddresses, role: GroupRole, onEnd: () => Promise<void>) => Promise<void>

interface Addition {
  readonly busy: boolean
  readonly error: unknown
  readonly progress: AdditionProgress | undefined
  readonly predictions: readonly MemberPrediction[] | undefined
  readonly outcome: AddMembersResponse | undefined
  /** Asks what an addition will do. */
  readonly check: Work
  /**
   * Adds, batch by batch; what was added before a failure stays added, and is in the outcome. Who was added or invited
   * by an earlier call with this role is not sent again. Managers, invited ones too, stay managers: a class list has
   * its teacher in it, who could not add the next batch without the role.
   */
  readonly add: Work
  reset(): void
}

/** Addition of many addresses to a group, with its preview. */
function useAddition(group: string): Addition {
  const { busy, error, run, reset } = useTask()
  const [progress, setProgress] = useState<AdditionProgress>()
  const [predictions, setPredictions] = useState<readonly MemberPrediction[]>()
  const [outcome, setOutcome] = useState<AddMembersResponse>()
  const earlier = useRef<EarlierAddition>(undefined)
  const params = { id: group }

  const check: Work = (found) =>
    run(async (signal) => {
      setPredictions(undefined)
      setOutcome(undefined)
      const all: MemberPrediction[] = []
      for (const emails of batchesOf(textsOf(found), maxEmails)) {
        setProgress({ done: all.length, total: found.addresses.length })
        const { addresses } = await createApiClient(signal, timeout).previewMembers({ params, body: { emails } })
        all.push(...addresses)
      }
      setPredictions(all)
    }).finally(() => setProgress(undefined))

  const add: Work = (found, role, onEnd) =>
    run(async (signal) => {
      setOutcome(undefined)
      const { left, done: all } = withoutEarlier(textsOf(found), role, earlier.current)
      try {
        for (const emails of batchesOf(left, batchSize)) {
          setProgress({ done: countOf(all), total: found.addresses.length })
          const names = namesOf(found, emails)
          const body = role === 'manager' ? { emails, role, names } : { emails, names }
          const answer = await createApiClient(signal, timeout).addMembers({ params, body })
          for (const list of ['added', 'invited', 'refused'] as const) all[list].push(...answer[list])
        }
      } finally {
        earlier.current = { role, added: all.added, invited: all.invited }
        setOutcome(all)
        if (countOf(all) > 0) await onEnd()
      }
    }).finally(() => setProgress(undefined))

  return {
    busy,
    error,
    progress,
    predictions,
    outcome,
    check,
    add,
    reset: () => {
      reset()
      setPredictions(undefined)
      setOutcome(undefined)
    },
  }
}

const countOf = ({ added, invited, refused }: AddMembersResponse) => added.length + invited.length + refused.length

/** Names of these addresses, where the list has them. */
function namesOf({ addresses }: FoundAddresses, emails: readonly string[]): Record<string, string> {
  const wanted = new Set(emails)
  return Object.fromEntries(addresses.flatMap(({ text, name }) => (name && wanted.has(text) ? [[text, name]] : [])))
}

const textsOf = ({ addresses }: FoundAddresses) => addresses.map(({ text }) => text)

function* batchesOf(addresses: readonly string[], size: number): Generator<string[]> {
  for (let at = 0; at < addresses.length; at += size) yield addresses.slice(at, at + size)
}
