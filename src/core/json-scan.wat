;; Scans an array of objects, as json-array.ts does: json-scan.ts calls it, and says what it leaves to json-array.ts. Sixteen bytes of a
;; string are looked at in one step. The document begins at 0 and has sixteen zeros behind it: a zero ends each loop, so that no place has
;; to be compared with the end. A function takes where something begins and returns where it ends, or 0 where it is not there.
;; V8 inlines no call here, so a byte that is no blank is found before $blanks is called.
(module
  (memory (export "memory") 1)

  ;; From any place to the first quotation mark, backslash or control character.
  (func $plain (param $at i32) (result i32)
    (local $bytes v128)
    (local $stops i32)
    (loop $next
      (local.set $bytes (v128.load align=1 (local.get $at)))
      (local.set $stops
        (i8x16.bitmask
          (v128.or
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
            (i8x16.lt_u (local.get $bytes) (i8x16.splat (i32.const 0x20))))))
      (if (local.get $stops)
        (then (return (i32.add (local.get $at) (i32.ctz (local.get $stops))))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next))
    (unreachable))

  (func $string (param $at i32) (result i32)
    (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x22)) (then (return (i32.const 0))))
    (local.set $at (call $plain (i32.add (local.get $at) (i32.const 1))))
    (loop $next
      (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x5c))
        (then
          (local.set $at (call $escape (local.get $at)))
          (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
          (local.set $at (call $plain (local.get $at)))
          (br $next))))
    (call $sign (local.get $at) (i32.const 0x22)))

  (func $escape (param $at i32) (result i32)
    (local $letter i32)
    (local.set $letter (i32.load8_u offset=1 (local.get $at)))
    (if (i32.eq (local.get $letter) (i32.const 0x75)) ;; u
      (then
        (return
          (select
            (i32.add (local.get $at) (i32.const 6))
            (i32.const 0)
            (i32.and
              (i32.and
                (call $isHex (i32.load8_u offset=2 (local.get $at)))
                (call $isHex (i32.load8_u offset=3 (local.get $at))))
              (i32.and
                (call $isHex (i32.load8_u offset=4 (local.get $at)))
                (call $isHex (i32.load8_u offset=5 (local.get $at)))))))))
    (select
      (i32.add (local.get $at) (i32.const 2))
      (i32.const 0)
      ;; Whether one of these sixteen bytes is the letter: " \ / b f n r t, the first repeated.
      (v128.any_true
        (i8x16.eq
          (i8x16.splat (local.get $letter))
          (v128.const i8x16 0x22 0x5c 0x2f 0x62 0x66 0x6e 0x72 0x74 0x22 0x22 0x22 0x22 0x22 0x22 0x22 0x22)))))

  (func $isHex (param $byte i32) (result i32)
    (i32.or
      (call $isDigit (local.get $byte))
      (i32.lt_u (i32.sub (i32.or (local.get $byte) (i32.const 0x20)) (i32.const 0x61)) (i32.const 6))))

  (func $isDigit (param $byte i32) (result i32)
    (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x30)) (i32.const 10)))

  (func $sign (param $at i32) (param $wanted i32) (result i32)
    (select
      (i32.add (local.get $at) (i32.const 1))
      (i32.const 0)
      (i32.eq (i32.load8_u (local.get $at)) (local.get $wanted))))

  (func $blanks (param $at i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $byte (i32.load8_u (local.get $at)))
      (if
        (i32.or
          (i32.or (i32.eq (local.get $byte) (i32.const 0x20)) (i32.eq (local.get $byte) (i32.const 0x0a)))
          (i32.or (i32.eq (local.get $byte) (i32.const 0x0d)) (i32.eq (local.get $byte) (i32.const 0x09))))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $at))

  (func $digits (param $start i32) (result i32)
    (local $at i32)
    (local.set $at (local.get $start))
    (loop $next
      (if (i32.lt_u (i32.sub (i32.load8_u (local.get $at)) (i32.const 0x30)) (i32.const 10))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (select (local.get $at) (i32.const 0) (i32.ne (local.get $at) (local.get $start))))

  (func $number (param $at i32) (result i32)
    (local $byte i32)
    (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2d)) ;; -
      (then (local.set $at (i32.add (local.get $at) (i32.const 1)))))
    (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x30)) ;; 0
      (then (local.set $at (i32.add (local.get $at) (i32.const 1))))
      (else (local.set $at (call $digits (local.get $at)))))
    (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
    (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2e)) ;; .
      (then (local.set $at (call $digits (i32.add (local.get $at) (i32.const 1))))))
    (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
    (if (i32.ne (i32.or (i32.load8_u (local.get $at)) (i32.const 0x20)) (i32.const 0x65)) ;; e
      (then (return (local.get $at))))
    (local.set $at (i32.add (local.get $at) (i32.const 1)))
    (local.set $byte (i32.load8_u (local.get $at)))
    (call $digits
      (i32.add
        (local.get $at)
        (i32.or (i32.eq (local.get $byte) (i32.const 0x2b)) (i32.eq (local.get $byte) (i32.const 0x2d))))))

  ;; true, false or null.
  (func $keyword (param $at i32) (result i32)
    (local $letters i32)
    (local.set $letters (i32.load align=1 (local.get $at)))
    (if (i32.or (i32.eq (local.get $letters) (i32.const 0x65757274)) (i32.eq (local.get $letters) (i32.const 0x6c6c756e)))
      (then (return (i32.add (local.get $at) (i32.const 4)))))
    (if (i32.eq (local.get $letters) (i32.const 0x736c6166))
      (then (return (call $sign (i32.add (local.get $at) (i32.const 4)) (i32.const 0x65)))))
    (i32.const 0))

  ;; `levels` is how many more objects and arrays may be inside each other.
  (func $value (param $at i32) (param $levels i32) (result i32)
    (local $byte i32)
    (local.set $byte (i32.load8_u (local.get $at)))
    (if (i32.eq (local.get $byte) (i32.const 0x22)) (then (return (call $string (local.get $at)))))
    (if (i32.eq (local.get $byte) (i32.const 0x7b))
      (then (return (call $object (local.get $at) (local.get $levels)))))
    (if (i32.eq (local.get $byte) (i32.const 0x5b))
      (then (return (call $array (local.get $at) (local.get $levels)))))
    (if (i32.or (i32.eq (local.get $byte) (i32.const 0x2d)) (call $isDigit (local.get $byte)))
      (then (return (call $number (local.get $at)))))
    (call $keyword (local.get $at)))

  (func $object (param $at i32) (param $levels i32) (result i32)
    (if (i32.eqz (local.get $levels)) (then (return (i32.const 0))))
    (local.set $at (call $blanks (i32.add (local.get $at) (i32.const 1))))
    (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x7d))
      (then
        (loop $next
          (local.set $at (call $string (local.get $at)))
          (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
          (local.set $at (call $colon (local.get $at)))
          (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
          (local.set $at (call $value (local.get $at) (i32.sub (local.get $levels) (i32.const 1))))
          (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
          (if (i32.le_u (i32.load8_u (local.get $at)) (i32.const 0x20))
            (then (local.set $at (call $blanks (local.get $at)))))
          (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2c))
            (then
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (if (i32.le_u (i32.load8_u (local.get $at)) (i32.const 0x20))
                (then (local.set $at (call $blanks (local.get $at)))))
              (br $next))))))
    (call $sign (local.get $at) (i32.const 0x7d)))

  ;; From the end of a name to the beginning of its value.
  (func $colon (param $at i32) (result i32)
    (if (i32.le_u (i32.load8_u (local.get $at)) (i32.const 0x20))
      (then (local.set $at (call $blanks (local.get $at)))))
    (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x3a)) (then (return (i32.const 0))))
    (local.set $at (i32.add (local.get $at) (i32.const 1)))
    (if (i32.le_u (i32.load8_u (local.get $at)) (i32.const 0x20))
      (then (local.set $at (call $blanks (local.get $at)))))
    (local.get $at))

  (func $array (param $at i32) (param $levels i32) (result i32)
    (if (i32.eqz (local.get $levels)) (then (return (i32.const 0))))
    (local.set $at (call $blanks (i32.add (local.get $at) (i32.const 1))))
    (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x5d))
      (then
        (loop $next
          (local.set $at (call $value (local.get $at) (i32.sub (local.get $levels) (i32.const 1))))
          (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
          (local.set $at (call $blanks (local.get $at)))
          (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2c))
            (then
              (local.set $at (call $blanks (i32.add (local.get $at) (i32.const 1))))
              (br $next))))))
    (call $sign (local.get $at) (i32.const 0x5d)))

  ;; Which of the names these bytes are, or -1. A name has 32 bytes: how many it has, and they.
  (func $nameIndex (param $start i32) (param $end i32) (param $names i32) (param $namesEnd i32) (result i32)
    (local $name i32)
    (local $at i32)
    (local.set $name (local.get $names))
    (loop $next
      (if (i32.eq (local.get $name) (local.get $namesEnd)) (then (return (i32.const -1))))
      (if (i32.eq (i32.load (local.get $name)) (i32.sub (local.get $end) (local.get $start)))
        (then
          (local.set $at (local.get $start))
          (block $differs
            (loop $same
              (if (i32.eq (local.get $at) (local.get $end))
                (then
                  (return (i32.shr_u (i32.sub (local.get $name) (local.get $names)) (i32.const 5)))))
              (br_if $differs
                (i32.ne
                  (i32.load8_u (local.get $at))
                  (i32.load8_u offset=4
                    (i32.add (local.get $name) (i32.sub (local.get $at) (local.get $start))))))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $same)))))
      (local.set $name (i32.add (local.get $name) (i32.const 32)))
      (br $next))
    (unreachable))

  ;; Writes the row of an object: its start and end, then start and end of the value of each name.
  (func $element (param $start i32) (param $names i32) (param $namesEnd i32) (param $row i32) (result i32)
    (local $at i32)
    (local $name i32)
    (local $nameEnd i32)
    (local $value i32)
    (local $index i32)
    (local.set $at (call $sign (local.get $start) (i32.const 0x7b)))
    (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
    (local.set $at (call $blanks (local.get $at)))
    (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x7d))
      (then
        (loop $next
          (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x22)) (then (return (i32.const 0))))
          (local.set $name (i32.add (local.get $at) (i32.const 1)))
          (local.set $nameEnd (call $plain (local.get $name)))
          (if (i32.ne (i32.load8_u (local.get $nameEnd)) (i32.const 0x22)) (then (return (i32.const 0))))
          (local.set $value (call $colon (i32.add (local.get $nameEnd) (i32.const 1))))
          (if (i32.eqz (local.get $value)) (then (return (i32.const 0))))
          (local.set $at (call $value (local.get $value) (i32.const 64)))
          (if (i32.eqz (local.get $at)) (then (return (i32.const 0))))
          (local.set $index
            (call $nameIndex (local.get $name) (local.get $nameEnd) (local.get $names) (local.get $namesEnd)))
          (if (i32.ge_s (local.get $index) (i32.const 0))
            (then
              (local.set $index (i32.add (local.get $row) (i32.shl (local.get $index) (i32.const 3))))
              (i32.store offset=8 (local.get $index) (local.get $value))
              (i32.store offset=12 (local.get $index) (local.get $at))))
          (if (i32.le_u (i32.load8_u (local.get $at)) (i32.const 0x20))
            (then (local.set $at (call $blanks (local.get $at)))))
          (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2c))
            (then
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (if (i32.le_u (i32.load8_u (local.get $at)) (i32.const 0x20))
                (then (local.set $at (call $blanks (local.get $at)))))
              (br $next))))))
    (local.set $at (call $sign (local.get $at) (i32.const 0x7d)))
    (i32.store (local.get $row) (local.get $start))
    (i32.store offset=4 (local.get $row) (local.get $at))
    (local.get $at))

  ;; Writes a row for each object of the array that begins at `at`. Returns where the array and the rows end, or 0 and 0 where it is no
  ;; such array, and where the rows do not fit before `rowsEnd`. The names end where the rows begin, and the rows are zeros.
  (func (export "scan")
    (param $at i32) (param $names i32) (param $rows i32) (param $rowSize i32) (param $rowsEnd i32)
    (result i32 i32)
    (local $row i32)
    (local.set $row (local.get $rows))
    (local.set $at (call $sign (local.get $at) (i32.const 0x5b)))
    (if (i32.eqz (local.get $at)) (then (return (i32.const 0) (i32.const 0))))
    (local.set $at (call $blanks (local.get $at)))
    (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x5d))
      (then
        (loop $next
          (if (i32.gt_u (i32.add (local.get $row) (local.get $rowSize)) (local.get $rowsEnd))
            (then (return (i32.const 0) (i32.const 0))))
          (local.set $at (call $element (local.get $at) (local.get $names) (local.get $rows) (local.get $row)))
          (if (i32.eqz (local.get $at)) (then (return (i32.const 0) (i32.const 0))))
          (local.set $row (i32.add (local.get $row) (local.get $rowSize)))
          (local.set $at (call $blanks (local.get $at)))
          (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 0x2c))
            (then
              (local.set $at (call $blanks (i32.add (local.get $at) (i32.const 1))))
              (br $next))))))
    (local.set $at (call $sign (local.get $at) (i32.const 0x5d)))
    (if (i32.eqz (local.get $at)) (then (return (i32.const 0) (i32.const 0))))
    (local.get $at)
    (local.get $row)))
