package reports

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// finite walks every number of v and returns the path and value of the first
// that is NaN or infinite. JSON has neither, but a record built in memory can
// hold one, and comparisons with NaN are silently false. The path is put
// together only on the way back from a find: records hold long sample lists.
func finite(v reflect.Value) (at string, value float64, ok bool) {
	switch v.Kind() {
	case reflect.Float64:
		f := v.Float()
		return "", f, !math.IsNaN(f) && !math.IsInf(f, 0)
	case reflect.Pointer:
		if !v.IsNil() {
			return finite(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.String {
			break
		}
		for i := range v.Len() {
			if at, value, ok := finite(v.Index(i)); !ok {
				return "[" + strconv.Itoa(i) + "]" + at, value, false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			at, value, ok := finite(v.Field(i))
			if ok {
				continue
			}
			if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name != "" {
				at = "." + name + at
			}
			return at, value, false
		}
	}
	return "", 0, true
}
