package openshiftconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// reader gives typed access to a document, and collects every problem with its place instead of stopping at the first.
type reader struct {
	path     string
	content  map[string]any
	problems []error
	opened   []object
}

// object is a map of the document; an absent one has no content. It remembers which names were asked for.
type object struct {
	reader  *reader
	field   string // path of field names, empty for the whole document
	content map[string]any
	read    map[string]bool
	ignored map[string]bool
}

func newReader(path string, document []byte) (*reader, error) {
	r := &reader{path: path}
	var content any
	if err := yaml.UnmarshalStrict(document, &content); err != nil {
		return nil, fmt.Errorf("%s: is not valid YAML; correct it: %w", path, err)
	}
	var isMap bool
	if r.content, isMap = content.(map[string]any); !isMap {
		return nil, fmt.Errorf("%s: is %s; it must be one document with apiVersion and kind", path, kindOf(content))
	}
	return r, nil
}

func (r *reader) root() object { return r.open("", r.content) }

func (r *reader) open(field string, content map[string]any) object {
	o := object{reader: r, field: field, content: content, read: map[string]bool{}, ignored: map[string]bool{}}
	r.opened = append(r.opened, o)
	return o
}

func (r *reader) problem(field, format string, arguments ...any) {
	place := r.path
	if field != "" {
		place += ": " + field
	}
	r.problems = append(r.problems, fmt.Errorf("%s: %s", place, fmt.Sprintf(format, arguments...)))
}

func (r *reader) err() error { return errors.Join(r.problems...) }

// warnAboutUnread names what the document says and nobody asked for: fields without a meaning here, and unknown ones.
func (r *reader) warnAboutUnread(warnings *[]string) {
	var unknown, meaningless []string
	for _, o := range r.opened {
		for _, name := range sortedKeys(o.content) {
			switch {
			case o.read[name]:
			case !o.ignored[name]:
				unknown = append(unknown, o.join(name))
			case !isEmpty(o.content[name]):
				meaningless = append(meaningless, o.join(name))
			}
		}
	}
	if len(meaningless) > 0 {
		*warnings = append(*warnings, "ignored fields without a meaning in Kubernetes: "+strings.Join(meaningless, ", "))
	}
	if len(unknown) > 0 {
		*warnings = append(*warnings, "ignored unknown fields: "+strings.Join(unknown, ", "))
	}
}

func (o object) join(name string) string {
	if o.field == "" {
		return name
	}
	return o.field + "." + name
}

func (o object) names() []string { return sortedKeys(o.content) }

// ignore declares fields that are known and mean nothing to upstream.
func (o object) ignore(names ...string) {
	for _, name := range names {
		o.ignored[name] = true
	}
}

// ignoreAll is for a document that somebody else reads.
func (o object) ignoreAll() {
	for name := range o.content {
		o.read[name] = true
	}
}

func (o object) value(name string) any {
	o.read[name] = true
	return o.content[name]
}

// wrong records a field of the wrong type.
func (o object) wrong(name, want string, got any) {
	o.reader.problem(o.join(name), "is %s; it must be %s", kindOf(got), want)
}

func (o object) object(name string) object {
	return o.reader.asObject(o.join(name), o.value(name))
}

func (r *reader) asObject(field string, value any) object {
	content, isMap := value.(map[string]any)
	if value != nil && !isMap {
		r.problem(field, "is %s; it must be a map", kindOf(value))
	}
	return r.open(field, content)
}

func (o object) text(name string) string {
	value := o.value(name)
	text, isText := value.(string)
	if value != nil && !isText {
		o.wrong(name, "a text (put it in quotes)", value)
	}
	return text
}

func (o object) boolean(name string) bool {
	value := o.value(name)
	on, isBool := value.(bool)
	if value != nil && !isBool {
		o.wrong(name, "true or false", value)
	}
	return on
}

// integer returns the number as text, and an empty text when it is absent or zero: zero means "not set" in these documents.
func (o object) integer(name string) string {
	value := o.value(name)
	number, isNumber := value.(float64)
	if value != nil && (!isNumber || number != float64(int64(number))) {
		o.wrong(name, "a whole number", value)
		return ""
	}
	if number == 0 {
		return ""
	}
	return fmt.Sprint(int64(number))
}

func (o object) list(name string) []any {
	value := o.value(name)
	list, isList := value.([]any)
	if value != nil && !isList {
		o.wrong(name, "a list", value)
	}
	return list
}

func (o object) texts(name string) []string {
	var out []string
	for i, item := range o.list(name) {
		text, isText := item.(string)
		if !isText {
			o.wrong(fmt.Sprintf("%s[%d]", name, i), "a text (put it in quotes)", item)
			continue
		}
		out = append(out, text)
	}
	return out
}

func (o object) objects(name string) []object {
	var out []object
	for i, item := range o.list(name) {
		out = append(out, o.reader.asObject(fmt.Sprintf("%s[%d]", o.join(name), i), item))
	}
	return out
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case float64:
		return v == 0
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isEmpty(item) })
	case map[string]any:
		for _, item := range v {
			if !isEmpty(item) {
				return false
			}
		}
		return true
	}
	return false
}

// kindOf names a type of YAML for people.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "empty"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case float64:
		return "a number"
	case []any:
		return "a list"
	}
	return "a map"
}
