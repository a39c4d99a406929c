import { useId, useMemo, useState, type ChangeEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { languages, type Language } from '@berth/api/boot.ts'
import { Button } from '#/components/button.tsx'
import { useLanguage } from '#/i18n/language.ts'
import { ColumnChoice } from '#/addresses/column-choice.tsx'
import { LineList } from '#/addresses/line-list.tsx'
import { parseAddresses } from '#/addresses/parse-addresses.ts'
import { readTextFile } from '#/addresses/read-text-file.ts'

/** Whom to invite, and how. */
export interface InvitationDraft {
  /** One at least. */
  readonly addresses: readonly string[]
  readonly isMailed: boolean
  /** Of the mails. */
  readonly language: Language
}

interface InviteFormProps {
  /** Stands in the field at first: what an earlier attempt has left. */
  initialText: string
  onInvite(wish: InvitationDraft): void
  onCancel(): void
}

/** Addresses from a file or pasted text, with what was found in them before anything is sent. */
export function InviteForm({ initialText, onInvite, onCancel }: InviteFormProps) {
  const t = useTranslations('admin.users.invite')
  const words = useTranslations('admin.table')
  const nameOf = useTranslations('frame.language')
  const [text, setText] = useState(initialText)
  const [isUnreadable, setUnreadable] = useState(false)
  const [isMailed, setMailed] = useState(true)
  const [language, setLanguage] = useState(useLanguage())
  const field = useId()
  const [column, setColumn] = useState<string>()
  const found = useMemo(() => parseAddresses(text, column), [text, column])
  const { addresses, rejected, columns } = found
  const rejectedTitle = t('rejected', { count: rejected.length })

  async function addFile({ target }: ChangeEvent<HTMLInputElement>) {
    const [file] = target.files ?? []
    const read = file && (await readTextFile(file))
    // The same file can be chosen again after a correction.
    target.value = ''
    setUnreadable(file !== undefined && read === undefined)
    if (read !== undefined) setText((before) => (before.trim() === '' ? read : `${before.trimEnd()}\n${read}`))
  }

  return (
    <form
      className="action-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (addresses.length > 0) onInvite({ addresses, isMailed, language })
      }}
    >
      <p>{t('text')}</p>
      <label htmlFor={field}>{t('addresses')}</label>
      <textarea
        id={field}
        rows={8}
        aria-describedby={`${field}-hint`}
        value={text}
        spellCheck={false}
        autoCapitalize="none"
        onChange={(event) => setText(event.target.value)}
      />
      <p className="hint" id={`${field}-hint`}>
        {t('addressesHint')}
      </p>
      <label className="file-line">
        {t('file')}
        <input type="file" accept=".csv,.tsv,.txt,text/csv,text/plain" onChange={(event) => void addFile(event)} />
      </label>
      <ColumnChoice
        id={`${field}-column`}
        found={found}
        className="file-line"
        isOff={false}
        words={{ label: t('column', { count: columns.length }), choose: t('chooseColumn'), all: t('allColumns') }}
        onChoose={setColumn}
      />
      <div role="status">
        {isUnreadable && <p className="danger-text">{t('fileUnreadable')}</p>}
        <p className="hint">{t('found', { count: addresses.length })}</p>
        {rejected.length > 0 && <p>{rejectedTitle}</p>}
      </div>
      <LineList label={rejectedTitle} lines={rejected} />
      <fieldset className="choices">
        <legend>{t('how')}</legend>
        <label className="check-line">
          <input type="radio" name={field} checked={isMailed} onChange={() => setMailed(true)} />
          {t('send')}
        </label>
        <label className="check-line">
          <input type="radio" name={field} checked={!isMailed} onChange={() => setMailed(false)} />
          {t('show')}
        </label>
      </fieldset>
      {isMailed && (
        <label className="file-line">
          {t('language')}
          <select
            value={language}
            onChange={({ target }) => setLanguage(languages.find((each) => each === target.value) ?? language)}
          >
            {languages.map((each) => (
              <option key={each} value={each} lang={each}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        </label>
      )}
      <div className="actions end">
        <Button onPress={onCancel}>{words('cancel')}</Button>
        <button type="submit" className="button primary" aria-disabled={addresses.length === 0}>
          {t('confirm', { count: addresses.length })}
        </button>
      </div>
    </form>
  )
}
