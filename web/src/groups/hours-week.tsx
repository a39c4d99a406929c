import { useRef, useState, type CSSProperties, type PointerEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { minuteOf, nearestSlot, slotsOf, timeOf, type LessonSlot, type PlacedLesson } from './lesson-slots.ts'

/** Hours that a week shows, if no lesson and no stop is earlier or later. */
const [firstHour, endHour] = [7, 17]
/** Pixels that a pointer moves at least when it drags. */
const minMove = 4

interface HoursWeekProps {
  timetable: Timetable
  dayName(day: number): string
  typeName(type: string): string
  isOff: boolean
  /** A lesson was dragged to another slot. */
  onMove(lesson: PlacedLesson, to: LessonSlot): void
  /** A slot without a lesson was pressed. */
  onPick(slot: LessonSlot): void
}

interface Drag {
  readonly lesson: PlacedLesson
  readonly x: number
  readonly y: number
  /** Minutes from the beginning of the lesson to where it was taken. */
  readonly grip: number
  /** Undefined until it has moved. */
  readonly to: LessonSlot | undefined
}

/**
 * The lessons of a week, to read and to drag. Assistive technology and keys use the list and the form beside it, which
 * say and do the same.
 */
export function HoursWeek({ timetable, dayName, typeName, isOff, onMove, onPick }: HoursWeekProps) {
  const t = useTranslations('groups.hours')
  const days = useRef<HTMLDivElement>(null)
  const [drag, setDrag] = useState<Drag>()
  const slots = slotsOf(timetable.lessons)
  const stop = timetable.stop_at === null ? undefined : minuteOf(timetable.stop_at)
  const minutes = [...slots.map(({ minute }) => minute), ...(stop === undefined ? [] : [stop])]
  const first = Math.min(firstHour, ...minutes.map((minute) => Math.floor(minute / 60)))
  const end = Math.min(24, Math.max(endHour, ...minutes.map((minute) => Math.floor(minute / 60) + 1)))
  const hours = Array.from({ length: end - first }, (_, at) => first + at)

  const boxOf = () => days.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1)
  function minuteAt({ clientY }: PointerEvent): number {
    const { top, height } = boxOf()
    return first * 60 + ((clientY - top) / height) * (end - first) * 60
  }
  function slotAt(event: PointerEvent, grip = 0): LessonSlot {
    const { left, width } = boxOf()
    return nearestSlot((event.clientX - left) / width, minuteAt(event) - grip)
  }
  function move(event: PointerEvent): void {
    if (!drag) return
    const isMoved = drag.to !== undefined || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) >= minMove
    if (isMoved) setDrag({ ...drag, to: slotAt(event, drag.grip) })
  }
  function drop(): void {
    setDrag(undefined)
    if (!drag?.to || isOff) return
    const { lesson, to } = drag
    if (to.day !== lesson.day || to.minute !== lesson.minute) onMove(lesson, to)
  }
  function pick(event: PointerEvent): void {
    // Of a touch that scrolls there is no end here.
    if (event.target === event.currentTarget && !isOff) onPick(slotAt(event))
  }
  return (
    <div className="hour-week" aria-hidden style={{ '--first': first * 60, '--hours': hours.length } as CSSProperties}>
      <div className="hour-days">
        {[1, 2, 3, 4, 5, 6, 7].map((day) => (
          <span key={day}>{dayName(day)}</span>
        ))}
      </div>
      <div className="hour-labels">
        {hours.map((hour) => (
          <span key={hour}>{timeOf(hour * 60)}</span>
        ))}
      </div>
      <div ref={days} className="hour-grid" onPointerUp={pick}>
        {slots.map((lesson) => {
          const isDragged =
            drag?.lesson.day === lesson.day && drag.lesson.at === lesson.at && drag.lesson.type === lesson.type
          const { day, minute } = (isDragged && drag.to) || lesson
          return (
            <div
              key={`${lesson.day} ${lesson.at} ${lesson.type}`}
              className={isDragged ? 'hour-lesson dragged' : 'hour-lesson'}
              style={
                { '--day': day, '--minute': minute, '--lane': lesson.lane, '--lanes': lesson.lanes } as CSSProperties
              }
              onPointerDown={(event) => {
                if (isOff) return
                event.currentTarget.setPointerCapture(event.pointerId)
                const grip = minuteAt(event) - lesson.minute
                setDrag({ lesson, x: event.clientX, y: event.clientY, grip, to: undefined })
              }}
              onPointerMove={move}
              onPointerUp={drop}
              onPointerCancel={() => setDrag(undefined)}
            >
              <strong>{timeOf(minute)}</strong> <span>{typeName(lesson.type)}</span>
            </div>
          )
        })}
        {stop !== undefined && (
          <div className="hour-stop" style={{ '--minute': stop } as CSSProperties}>
            <span>{t('stopLine', { at: timeOf(stop) })}</span>
          </div>
        )}
      </div>
    </div>
  )
}
