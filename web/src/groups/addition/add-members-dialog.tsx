import type { GroupRole } from '@berth/api/schemas/groups.ts'
import { useId, useMemo, useState, type ChangeEvent, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { ColumnChoice } from '#/addresses/column-choice.tsx'
import { findAddresses } from '#/addresses/find-addresses.ts'
import { LineList } from '#/addresses/line-list.tsx'
import { readTextFile } from '#/addresses/read-text-file.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { SubmitButton } from '#/components/submit-button.tsx'
import { useMembersChanged } from '#/groups/use-members.ts'
import { AdditionOutcome, AdditionPreview, useUnusedLines } from './addition-report.tsx'
import { maxAddresses, useAddition } from './use-addition.ts'

/** Adds users by their addresses, typed or from a file, and invites others; says before what will happen, and after it what has. */
export function AddMembersDialog({ id: group, onClose }: { id: string; onClose: () => void }) {
  const t = useTranslations('groups.add')
  const roles = useTranslations('groups.members.role')
  const cancel = useTranslations('groups.act')('cancel')
  const field = useId()
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
    if (wrong) return document.getElementById(isUnclear ? `${field}-column` : field)?.focus()
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
    // The same file can be chosen again after a correction.
    target.value = ''
    if (read !== undefined) write(read)
    else if (file) setProblem('fileUnreadable')
  }
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!isDone) begin(add)
  }
  return (
    <Dialog title={t('title')} variant="wide" onClose={onClose}>
      {(close) => (
        <form className="group-form" onSubmit={submit} noValidate>
          <div className="group-field">
            <label htmlFor={field}>{t('emails')}</label>
            <textarea
              id={field}
              rows={4}
              value={text}
              // What is typed meanwhile would be checked and added by no one.
              readOnly={busy}
              spellCheck={false}
              autoCapitalize="none"
              aria-describedby={`${field}-hint ${field}-alert`}
              onChange={({ target }) => write(target.value)}
            />
            <p className="hint" id={`${field}-hint`}>
              {t('hint')}
            </p>
          </div>
          <label className="file-line">
            {t('file')}
            <input
              type="file"
              accept=".csv,.tsv,.txt,text/csv,text/plain"
              disabled={busy}
              onChange={(event) => void addFile(event)}
            />
          </label>
          <ColumnChoice
            id={`${field}-column`}
            found={found}
            className="group-field"
            isOff={busy}
            words={{ label: t('column', { count: columns.length }), choose: t('chooseColumn'), all: t('allColumns') }}
            onChoose={chooseColumn}
          />
          <div className="group-field">
            <label htmlFor={`${field}-role`}>{t('role')}</label>
            <select
              id={`${field}-role`}
              value={role}
              disabled={busy}
              aria-describedby={`${field}-role-hint`}
              onChange={({ target }) => chooseRole(target.value as GroupRole)}
            >
              <option value="member">{roles('member')}</option>
              <option value="manager">{roles('manager')}</option>
            </select>
            <p className="hint" id={`${field}-role-hint`}>
              {role === 'member' && t('roleHint')}
            </p>
          </div>
          <Alert id={`${field}-alert`} error={error} sentence={problem && t(problem, { max: maxAddresses })} />
          <div role="status">
            {progress && (
              <>
                <progress aria-label={t('busy')} value={progress.done} max={progress.total} />
                <p className="hint">{t('progress', progress)}</p>
              </>
            )}
            {predictions && !outcome && <AdditionPreview predictions={predictions} />}
            {outcome && <AdditionOutcome outcome={outcome} />}
            {unused.length > 0 && <p>{unusedTitle}</p>}
          </div>
          <LineList label={unusedTitle} lines={unused} />
          <div className="actions end">
            {/* It ends what is under way. */}
            <Button variant={outcome && 'primary'} onPress={close}>
              {busy && !outcome ? cancel : t('close')}
            </Button>
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
