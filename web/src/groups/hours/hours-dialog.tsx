import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { ExceptionForm } from './exception-form.tsx'
import { LessonForm } from './lesson-form.tsx'
import { useHourWords } from './use-hour-words.ts'
import { ZoneForm, type ZoneFields } from './zone-form.tsx'

interface HoursDialogProps {
  id: string
  types: ManagedGroupResponse['types']
  onClose(): void
}

/**
 * Hours of a group: lessons, the stop at night, and days on which other times hold. Each change is stored at once; what
 * is in the fields of zone and stop is stored with the next one, at the latest when the dialog is closed by its button.
 */
export function HoursDialog({ id, types, onClose }: HoursDialogProps) {
  const t = useTranslations('groups.hours')
  const { lessonText, exceptionText } = useHourWords(types)
  const client = useQueryClient()
  const { busy, error, run } = useTask()
  const status = useRef<HTMLParagraphElement>(null)
  const form = useRef<HTMLFormElement>(null)
  /** What was to be stored when the dialog was left. */
  const leftWith = useRef<Partial<ZoneFields>>(undefined)
  const [isSaved, setSaved] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const [edits, setEdits] = useState<Partial<ZoneFields>>({})
  const key = ['group-timetable', id]
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => createApiClient(signal).readTimetable({ params: { id } }),
    gcTime: 0,
  })
  const timetable = query.data?.timetable ?? {
    time_zone: query.data?.default_time_zone ?? 'UTC',
    lessons: [],
    stop_at: null,
    exceptions: [],
  }
  const edited = { ...timetable, ...edits }
  const isEdited = edited.time_zone !== timetable.time_zone || edited.stop_at !== timetable.stop_at
  function store(next: Timetable | null, onStored?: () => void) {
    setSaved(false)
    void run(async (signal) => {
      const stored = await createApiClient(signal).setTimetable({ params: { id }, body: { timetable: next } })
      // An answer that was asked for before would show the old hours again, and the next change would store them.
      await client.cancelQueries({ queryKey: key })
      client.setQueryData(key, stored)
      setSaved(true)
      setEdits((now) => (now === edits ? {} : now))
      onStored?.()
    })
  }
  // A time of which a part was deleted would be stored as none.
  const isComplete = () => form.current?.reportValidity() !== false
  const change = (changes: Partial<Timetable>) => isComplete() && store({ ...edited, ...changes })
  // What was refused at the first press, which is shown, is not tried again at the next.
  function leave(close: () => void) {
    if (!isEdited || leftWith.current === edits) return close()
    if (!isComplete()) return
    leftWith.current = edits
    store(edited, close)
  }
  // The pressed button goes away with what it removes, so the focus moves first.
  function remove(next: () => void) {
    status.current?.focus({ preventScroll: true })
    next()
  }
  const without = <T,>(all: readonly T[], each: T) => all.filter((one) => one !== each)
  return (
    <>
      <Dialog title={t('title')} variant="wide" onClose={onClose}>
        {(close) => (
          <div className="group-form">
            <p className="hint">{t('lead')}</p>
            {query.data && (
              <>
                <ZoneForm
                  fields={edited}
                  isOff={busy}
                  form={form}
                  onEdit={(changes) => setEdits((before) => ({ ...before, ...changes }))}
                  onSave={() => change({})}
                />
                <p role="status" ref={status} tabIndex={-1} className="hint hour-status">
                  {isSaved && !isEdited && t('saved')}
                </p>
                <h3>{t('lessons')}</h3>
                {timetable.lessons.length === 0 && <p className="hint">{t('noLessons')}</p>}
                <ul className="hour-rows">
                  {timetable.lessons.map((each, at) => (
                    <Row
                      key={at}
                      text={lessonText(each)}
                      isOff={busy}
                      onRemove={() => remove(() => change({ lessons: without(timetable.lessons, each) }))}
                    />
                  ))}
                </ul>
                <LessonForm
                  types={types}
                  isOff={busy}
                  onAdd={(lesson) => change({ lessons: [...timetable.lessons, lesson] })}
                />
                <h3>{t('exceptions')}</h3>
                <ul className="hour-rows">
                  {timetable.exceptions.map((each) => (
                    <Row
                      key={each.date}
                      text={exceptionText(each)}
                      isOff={busy}
                      onRemove={() => remove(() => change({ exceptions: without(timetable.exceptions, each) }))}
                    />
                  ))}
                </ul>
                <ExceptionForm
                  types={types}
                  isOff={busy}
                  onAdd={(exception) => change({ exceptions: [...timetable.exceptions, exception] })}
                />
              </>
            )}
            <Alert error={error ?? query.error ?? undefined} />
            <div className="actions end">
              {query.data?.timetable && (
                <Button isOff={busy} onPress={() => setAsking(true)}>
                  {t('removeAll')}
                </Button>
              )}
              <Button isOff={isEdited && busy} onPress={() => leave(close)}>
                {t('close')}
              </Button>
            </div>
          </div>
        )}
      </Dialog>
      {/* Beside the dialog and not in it: React passes the end of an inner one on to the outer one. */}
      {isAsking && (
        <Dialog title={t('askRemoveAll.title')} onClose={() => setAsking(false)}>
          {(close) => (
            <>
              <p>{t('askRemoveAll.effect')}</p>
              <ConfirmActions
                cancel={t('askRemoveAll.cancel')}
                confirm={t('removeAll')}
                close={close}
                onConfirm={() => remove(() => store(null))}
              />
            </>
          )}
        </Dialog>
      )}
    </>
  )
}

function Row({ text, isOff, onRemove }: { text: string; isOff: boolean; onRemove: () => void }) {
  const t = useTranslations('groups.hours')
  return (
    <li>
      <span>{text}</span>
      <Button variant="small" isOff={isOff} onPress={onRemove}>
        <span aria-hidden>{t('remove')}</span>
        <span className="visually-hidden">{t('removeThis', { what: text })}</span>
      </Button>
    </li>
  )
}
