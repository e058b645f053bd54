package jq

// prelude is the functions of jq that are written in jq. A definition may use native functions
// and earlier definitions. A filter gets those that it needs, and they are rewritten like the
// filter itself.
var prelude = []struct{ name, source string }{ // name/arity
	{"not/0", `def not: if . then false else true end;`},
	{"map/1", `def map(f): [.[] | f];`},
	{"map_values/1", `def map_values(f): .[] |= f;`},
	{"select/1", `def select(f): if f then . else empty end;`},
	{"recurse/1", `def recurse(f): def down: ., (f | down); down;`},
	{"recurse/2", `def recurse(f; while): def down: ., (f | select(while) | down); down;`},
	{"recurse/0", `def recurse: recurse(.[]?);`},
	{"values/0", `def values: select(. != null);`},
	{"nulls/0", `def nulls: select(. == null);`},
	{"booleans/0", `def booleans: select(type == "boolean");`},
	{"numbers/0", `def numbers: select(type == "number");`},
	{"strings/0", `def strings: select(type == "string");`},
	{"arrays/0", `def arrays: select(type == "array");`},
	{"objects/0", `def objects: select(type == "object");`},
	{"iterables/0", `def iterables: select(type == "array" or type == "object");`},
	{"scalars/0", `def scalars: select(type != "array" and type != "object");`},
	{"toarray/0", `def toarray: if type == "array" then . else [.] end;`},

	{"first/0", `def first: .[0];`},
	{"last/0", `def last: .[-1];`},
	{"nth/1", `def nth($n): .[$n];`},
	{"first/1", `def first(f): label $found | f | ., break $found;`},
	{"last/1", `def last(f): reduce f as $v ([]; [$v]) | .[];`},
	{"limit/2", `def limit($n; f):
	  if $n < 0 then error("limit must not be negative")
	  elif $n == 0 then empty
	  else label $enough | foreach f as $v (0; . + 1; $v, if . >= $n then break $enough else empty end) end;`},
	{"skip/2", `def skip($n; f):
	  if $n < 0 then error("skip must not be negative")
	  else foreach f as $v (0; . + 1; if . > $n then $v else empty end) end;`},
	{"nth/2", `def nth($n; f): if $n < 0 then error("nth must not be negative") else first(skip($n; f)) end;`},
	{"isempty/1", `def isempty(f): label $found | (f | false, break $found), true;`},
	{"any/2", `def any(f; is): isempty(f | select(is)) | not;`},
	{"any/1", `def any(is): any(.[]; is);`},
	{"any/0", `def any: any(.[]; .);`},
	{"all/2", `def all(f; is): isempty(f | select(is | not));`},
	{"all/1", `def all(is): all(.[]; is);`},
	{"all/0", `def all: all(.[]; .);`},
	{"range/1", `def range($to): range(0; $to; 1);`},
	{"range/2", `def range($from; $to): range($from; $to; 1);`},
	{"while/2", `def while(is; next): def turn: if is then ., (next | turn) else empty end; turn;`},
	{"until/2", `def until(is; next): def turn: if is then . else next | turn end; turn;`},
	{"repeat/1", `def repeat(f): def turn: ., (f | turn); turn;`},
	{"in/1", `def in(of): . as $key | of | has($key);`},
	{"inside/1", `def inside(of): . as $part | of | contains($part);`},
	{"add/1", `def add(f): [f] | add;`},

	{"to_entries/0", `def to_entries: [keys[] as $k | {key: $k, value: .[$k]}];`},
	{"from_entries/0", `def from_entries: reduce .[] as $e ({};
	  . + {($e | if type == "object" then .key // .k // .name // .Name // .Key // .K else error("an entry is an object") end):
	    ($e | if has("value") then .value elif has("v") then .v else .Value end)});`},
	{"with_entries/1", `def with_entries(f): to_entries | map(f) | from_entries;`},
	{"min_by/1", `def min_by(f): _min_by(map([f]));`},
	{"max_by/1", `def max_by(f): _max_by(map([f]));`},
	{"sort_by/1", `def sort_by(f): _sort_by(map([f]));`},
	{"group_by/1", `def group_by(f): _group_by(map([f]));`},
	{"unique_by/1", `def unique_by(f): _unique_by(map([f]));`},
	{"walk/1", `def walk(f): def down: if type == "array" then map(down) elif type == "object" then map_values(down) else . end | f; down;`},
	{"del/1", `def del(f): delpaths([path(f)]);`},
	{"paths/0", `def paths: path(recurse) | select(. != []);`},
	{"paths/1", `def paths(is): path(recurse | select(is)) | select(. != []);`},
	{"leaf_paths/0", `def leaf_paths: paths(scalars);`},
	{"pick/1", `def pick(f): . as $whole | reduce path(f) as $p (null; setpath($p; $whole | getpath($p)));`},
	{"combinations/0", `def combinations: if length == 0 then [] else .[0][] as $one | [$one] + (.[1:] | combinations) end;`},
	{"combinations/1", `def combinations($n): . as $of | [range($n) | $of] | combinations;`},
	{"tostream/0", `def tostream: def down($p): if (type == "array" or type == "object") and length > 0
	  then (keys as $k | ($k[] as $i | .[$i] | down($p + [$i])), [$p + [$k[-1]]]) else [$p, .] end;
	  if (type == "array" or type == "object") and length > 0 then down([]) else [[], .] end;`},

	{"fromstream/1", `def fromstream(f): foreach f as $e ({};
	  (if .done then {} else . end) | if ($e | length) == 2
	    then {value: (.value | setpath($e[0]; $e[1])), done: ($e[0] == [])}
	    else {value, done: ($e[0] | length == 1)} end;
	  if .done then .value else empty end);`},
	{"truncate_stream/1", `def truncate_stream(f): . as $n | null | f | if (.[0] | length) > $n then [.[0][$n:]] + .[1:] else empty end;`},
	{"finites/0", `def finites: select(isfinite);`},
	{"normals/0", `def normals: select(isnormal);`},
	{"format/1", `def format($name): if $name == "text" then @text elif $name == "json" then @json elif $name == "html" then @html
	  elif $name == "uri" then @uri elif $name == "urid" then @urid elif $name == "csv" then @csv elif $name == "tsv" then @tsv
	  elif $name == "sh" then @sh elif $name == "base64" then @base64 elif $name == "base64d" then @base64d
	  else error("unknown format") end;`},

	{"match/1", `def match($re): match($re; null);`},
	{"test/1", `def test($re): test($re; null);`},
	{"capture/2", `def capture($re; $flags): match($re; $flags) | [.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries;`},
	{"capture/1", `def capture($re): capture($re; null);`},
	{"scan/2", `def scan($re; $flags): match($re; $flags + "g") | if .captures == [] then .string else [.captures[].string] end;`},
	{"scan/1", `def scan($re): scan($re; null);`},
	{"splits/2", `def splits($re; $flags): . as $text | foreach (match($re; $flags + "g"), null) as $m ({next: 0};
	    if $m == null then {part: $text[.next:]} else {part: $text[.next:$m.offset], next: ($m.offset + $m.length)} end; .part);`},
	{"splits/1", `def splits($re): splits($re; null);`},
	{"split/2", `def split($re; $flags): [splits($re; $flags)];`},
	{"sub/3", `def sub($re; text; $flags): . as $whole | [match($re; $flags)] as $found
	  | def rest($i; $at): if $i == ($found | length) then $whole[$at:] else $found[$i] as $m
	      | $whole[$at:$m.offset] + ([$m.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries | text)
	        + rest($i + 1; $m.offset + $m.length) end;
	    rest(0; 0);`},
	{"sub/2", `def sub($re; text): sub($re; text; null);`},
	{"gsub/3", `def gsub($re; text; $flags): sub($re; text; $flags + "g");`},
	{"gsub/2", `def gsub($re; text): sub($re; text; "g");`},
	{"ascii/0", `def ascii: [.] | implode;`},
	{"todateiso8601/0", `def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");`},
	{"fromdateiso8601/0", `def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%S%z") | mktime;`},
	{"todate/0", `def todate: todateiso8601;`},
	{"fromdate/0", `def fromdate: fromdateiso8601;`},
	{"date/0", `def date: todate;`},

	{"INDEX/2", `def INDEX(rows; by): reduce rows as $row ({}; . + {($row | by | tostring): $row});`},
	{"INDEX/1", `def INDEX(by): INDEX(.[]; by);`},
	{"JOIN/2", `def JOIN($index; by): [.[] | [., $index[by]]];`},
	{"JOIN/3", `def JOIN($index; rows; by): rows | [., $index[by]];`},
	{"JOIN/4", `def JOIN($index; rows; by; join): rows | [., $index[by]] | join;`},
	{"IN/1", `def IN(f): any(f == .; .);`},
	{"IN/2", `def IN(f; g): any(f == g; .);`},
}

// preludeIndex finds a definition by its name.
func preludeIndex(name string) int {
	for i := range prelude {
		if prelude[i].name == name {
			return i
		}
	}
	return -1
}
