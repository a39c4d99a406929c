import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, type FormEvent, type RefObject } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel, SubmitButton } from '#/components/button.tsx'
import { ConfirmDialog, Dialog } from '#/components/dialog.tsx'
import { Field, Options } from '#/components/field.tsx'
import { useTask } from '#/components/use-task.ts'
import { HoursWeek } from './hours-week.tsx'
import { timeOf, withMoved, type LessonSlot } from './lesson-slots.ts'

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
  const { dayName, nameOf, lessonText, exceptionText } = useHourWords(types)
  /** The slot that was pressed in the week: the form begins with it. */
  const [picked, setPicked] = useState<LessonSlot>()
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
    time_zone: browserZone ?? query.data?.default_time_zone ?? 'UTC',
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
      <Dialog title={t('title')} variant="sheet" onClose={onClose} beforeClose={leave}>
        {() => (
          <div className="group-form hours">
            <p className="hint">{t('lead')}</p>
            {query.data && (
              <>
                <h3>{t('lessons')}</h3>
                <p className="hint">{t('weekHint')}</p>
                <HoursWeek
                  timetable={edited}
                  dayName={dayName}
                  typeName={nameOf}
                  isOff={busy}
                  onMove={(lesson, to) => change({ lessons: withMoved(timetable.lessons, lesson, to) })}
                  onPick={setPicked}
                />
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
                  key={picked && `${picked.day} ${picked.minute}`}
                  types={types}
                  slot={picked}
                  isOff={busy}
                  onAdd={(lesson) => change({ lessons: [...timetable.lessons, lesson] })}
                />
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
            </div>
          </div>
        )}
      </Dialog>
      {/* Beside the dialog and not in it: React passes the end of an inner one on to the outer one. */}
      {isAsking && (
        <ConfirmDialog
          title={t('askRemoveAll.title')}
          confirm={t('removeAll')}
          onConfirm={() => remove(() => store(null))}
          onClose={() => setAsking(false)}
        >
          <p>{t('askRemoveAll.effect')}</p>
        </ConfirmDialog>
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
        <ShortLabel text={t('remove')} name={t('removeThis', { what: text })} />
      </Button>
    </li>
  )
}

interface LessonFormProps {
  types: ManagedGroupResponse['types']
  /** What its fields begin with. */
  slot: LessonSlot | undefined
  isOff: boolean
  onAdd(lesson: Timetable['lessons'][number]): void
}

/** A lesson of every week. */
function LessonForm({ types, slot, isOff, onAdd }: LessonFormProps) {
  const t = useTranslations('groups.hours')
  const { dayName } = useHourWords(types)
  const form = useRef<HTMLFormElement>(null)
  const [isMissing, setMissing] = useState(false)
  // What a press in the week has filled in may be below the window.
  useEffect(() => {
    if (slot) form.current?.scrollIntoView({ block: 'nearest' })
  }, [slot])
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const days = data.getAll('day').map(Number)
    const [at, type] = [String(data.get('at')), String(data.get('type'))]
    setMissing(days.length === 0 || at === '')
    if (!isOff && days.length > 0 && at !== '') onAdd({ days, at, container_type: type })
  }
  return (
    <form ref={form} className="hour-form" onSubmit={submit} noValidate>
      <fieldset className="group-types">
        <legend>{t('days')}</legend>
        {weekdays.map((day) => (
          <label key={day}>
            <input type="checkbox" name="day" value={day} defaultChecked={day === slot?.day} />
            {dayName(day)}
          </label>
        ))}
      </fieldset>
      <Field label={t('at')}>
        {(control) => <input {...control} name="at" type="time" defaultValue={slot && timeOf(slot.minute)} />}
      </Field>
      <LessonField types={types} />
      <Alert error={undefined} sentence={isMissing ? t('lessonMissing') : undefined} />
      <SubmitButton variant="small" isOff={isOff}>
        {t('addLesson')}
      </SubmitButton>
    </form>
  )
}

interface ExceptionFormProps {
  types: ManagedGroupResponse['types']
  isOff: boolean
  onAdd(exception: Timetable['exceptions'][number]): void
}

/** A day without lessons, with another lesson, or without a stop. */
function ExceptionForm({ types, isOff, onAdd }: ExceptionFormProps) {
  const t = useTranslations('groups.hours')
  const [isMissing, setMissing] = useState(false)
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const [date, at, type] = [String(data.get('date')), String(data.get('at')), String(data.get('type'))]
    setMissing(date === '')
    if (isOff || date === '') return
    onAdd({ date, lessons: at === '' ? [] : [{ at, container_type: type }], stops: data.get('stops') !== null })
  }
  return (
    <form className="hour-form" onSubmit={submit} noValidate>
      <Field label={t('date')}>{(control) => <input {...control} name="date" type="date" />}</Field>
      <Field label={t('otherAt')} hint={t('otherHint')}>
        {(control) => <input {...control} name="at" type="time" />}
      </Field>
      <LessonField types={types} />
      <div className="group-types">
        <label>
          <input type="checkbox" name="stops" defaultChecked />
          {t('stops')}
        </label>
      </div>
      <Alert error={undefined} sentence={isMissing ? t('dateMissing') : undefined} />
      <SubmitButton variant="small" isOff={isOff}>
        {t('addException')}
      </SubmitButton>
    </form>
  )
}

/** The container type of a lesson, as `type` of its form. */
function LessonField({ types }: { types: ManagedGroupResponse['types'] }) {
  const t = useTranslations('groups.hours')
  return (
    <Field label={t('type')}>
      {(control) => (
        <select {...control} name="type">
          <Options of={types.map(({ type, display_name: name }) => [type, name])} />
        </select>
      )}
    </Field>
  )
}

/** The part of a timetable that the fields of this form hold. */
type ZoneFields = Pick<Timetable, 'time_zone' | 'stop_at'>

interface ZoneFormProps {
  fields: ZoneFields
  isOff: boolean
  /** A time of which a part is missing is no value: the dialog asks the form before it stores the fields. */
  form: RefObject<HTMLFormElement | null>
  onEdit(changes: Partial<ZoneFields>): void
  onSave(): void
}

/** Zone of who plans the lessons; undefined where the browser names none. */
const browserZone = Intl.supportedValuesOf('timeZone').find(
  (each) => each === Intl.DateTimeFormat().resolvedOptions().timeZone,
)

/** Time zone of the group, and the stop at night. */
function ZoneForm({ fields, isOff, form, onEdit, onSave }: ZoneFormProps) {
  const t = useTranslations('groups.hours')
  const { time_zone: zone, stop_at: stopAt } = fields
  const zones = Intl.supportedValuesOf('timeZone')
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!isOff) onSave()
  }
  return (
    <form className="hour-form" ref={form} onSubmit={submit}>
      <Field label={t('zone')}>
        {(control) => (
          <select {...control} value={zone} onChange={({ target }) => onEdit({ time_zone: target.value })}>
            <Options of={(zones.includes(zone) ? zones : [zone, ...zones]).map((each) => [each, each])} />
          </select>
        )}
      </Field>
      <Field label={t('stopAt')} hint={t('stopHint')}>
        {(control) => (
          <input
            {...control}
            type="time"
            // Of a field with `value` React writes the attribute, too. Firefox then forgets, as soon as the field is left, that
            // a part of the time is missing, and the stop would be stored as none.
            ref={(field) => {
              if (field && field.value !== (stopAt ?? '')) field.value = stopAt ?? ''
            }}
            onChange={({ target }) => onEdit({ stop_at: target.value === '' ? null : target.value })}
          />
        )}
      </Field>
      <SubmitButton variant="small" isOff={isOff}>
        {t('save')}
      </SubmitButton>
    </form>
  )
}

/** 1 is Monday, 7 Sunday. */
const weekdays = [1, 2, 3, 4, 5, 6, 7] as const
/** A Monday, to name days by. */
const monday = Date.UTC(2024, 0, 1)

/** Sentences about lessons and exceptions, in the language of the page. */
function useHourWords(types: ManagedGroupResponse['types']) {
  const t = useTranslations('groups.hours')
  const format = useFormatter()
  const dayName = (day: number) =>
    format.dateTime(new Date(monday + (day - 1) * 86_400_000), { weekday: 'short', timeZone: 'UTC' })
  const nameOf = (type: string) => types.find((each) => each.type === type)?.display_name ?? type
  const lessonText = ({ days, at, container_type }: Timetable['lessons'][number]) =>
    t('lesson', { days: days.map(dayName).join(', '), at, type: nameOf(container_type) })
  const exceptionText = ({ date, lessons, stops }: Timetable['exceptions'][number]) => {
    const day = format.dateTime(new Date(`${date}T00:00:00Z`), { dateStyle: 'full', timeZone: 'UTC' })
    const held = lessons.map(({ at, container_type }) => `${at} ${nameOf(container_type)}`).join(', ')
    return t('exception', { day, lessons: held === '' ? t('none') : held, stops: String(stops) })
  }
  return { dayName, nameOf, lessonText, exceptionText }
}
